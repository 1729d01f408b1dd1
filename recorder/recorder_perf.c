/* Windows as samples of perf: RECORDING.perf is a perf.data of one event, with a branch stack of 32
 * in each sample, and with the mappings of code that samples are in. It is opened by its name for
 * each window, as programs close descriptors that they do not know, and its header says after each
 * how long it is. docs/formats/perf-data.md */
#include "recorder_perf.h"

#include "guest_bytes.h"
#include "guest_file.h"
#include "guest_sys.h"
#include "recorder_modules.h"
#include "recorder_options.h"
#include "recorder_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

enum { STACK = 32, BUFFER_BYTES = 64 << 10, SAMPLE_TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                                         PERF_SAMPLE_TIME |
                                                         PERF_SAMPLE_BRANCH_STACK };

struct part {
    u64 off, size;
};
struct head {
    char magic[8];
    u64 size, attr_size;
    struct part attrs, data, event_types;
    u64 features[4];
    struct perf_event_attr attr;
    struct part ids;
};
struct mapping {
    struct perf_event_header head;
    u32 pid, tid;
    u64 start, size, off;
    u32 device[2];
    u64 inode, inode_generation;
    u32 protection, flags;
    char path[PGK_BRANCH_PATH];
};
struct sample {
    struct perf_event_header head;
    u64 ip;
    u32 pid, tid;
    u64 time, n;
    struct {
        u64 from, to, flags;
    } branches[STACK];
};
_Static_assert(sizeof(struct mapping) % 8 == 0, "records are of whole words");

static char path[1200];
static bool started, refused;
static u64 data_bytes;
static char buffer[BUFFER_BYTES] __attribute__((aligned(8)));
static u32 used;

void pgbr_perf_drop(void)
{
    if (started)
        pgg_sys_remove(path);
    refused = true;
}

void pgbr_perf_forked(void)
{
    started = refused = false;
    data_bytes = used = 0;
}

static int begin(int fd)
{
    static struct head h;
    h = (struct head){
        .magic = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'},
        .size = offsetof(struct head, attr),
        .attr_size = sizeof h.attr + sizeof h.ids,
        .attrs = {offsetof(struct head, attr), sizeof h.attr + sizeof h.ids},
        .data = {sizeof h, 0},
        .attr = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
                 .size = sizeof h.attr, .sample_period = STACK, .sample_type = SAMPLE_TYPE,
                 .branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
                 .exclude_kernel = 1},
    };
    return pgg_sys_write_all(fd, &h, sizeof h);
}

static int flush(int fd)
{
    const u64 most = offsetof(struct head, data) + offsetof(struct part, size);
    long n = pgg_sys_pwrite(fd, buffer, used, (off_t)(sizeof(struct head) + data_bytes));
    if (n == (long)used) {
        data_bytes += used;
        used = 0;
        n = pgg_sys_pwrite(fd, &data_bytes, sizeof data_bytes, (off_t)most);
    }
    return n < 0 ? (int)n : n == sizeof data_bytes ? 0 : -ENOSPC;
}

static int put(int fd, const void *record, u32 size)
{
    int err = 0;
    if (used + size > sizeof buffer)
        err = flush(fd);
    if (err)
        return err;
    pgg_copy(buffer + used, record, size);
    used += size;
    return 0;
}

static u64 now(void)
{
    struct timespec t = {0};
    pgg_sys_clock(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

/* The code of a module, before the first sample that is in it. */
static int write_module(int fd, u64 pc, u32 process)
{
    struct pgbr_module *m = pgbr_module_of(pc);
    if (!m || m->written || m->file >= PGK_BRANCH_MODULES_MAX)
        return 0;
    m->written = true;
    const u64 low = m->start & ~(u64)(PGG_PAGE - 1);
    struct mapping r = {
        .head = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .size = sizeof r},
        .pid = process, .tid = process, .start = low,
        .size = (m->end - low + PGG_PAGE - 1) & ~(u64)(PGG_PAGE - 1),
        .off = m->file_off & ~(u64)(PGG_PAGE - 1),
        .protection = PROT_READ | PROT_EXEC, .flags = MAP_PRIVATE};
    pgg_copy(r.path, pgbr_table_module(m->file)->path, sizeof r.path);
    return put(fd, &r, sizeof r);
}

/* Newest branch first. */
static int put_sample(int fd, const struct pgbr_branch *oldest, u64 n, u32 process, u64 time)
{
    struct sample s = {
        .head = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER,
                 .size = (uint16_t)(offsetof(struct sample, branches) + n * sizeof *s.branches)},
        .ip = oldest[n - 1].to, .pid = process, .tid = (u32)pgg_sys_thread(), .time = time, .n = n};
    int err = 0;
    for (u64 i = 0; i < n && !err; i++) {
        s.branches[i].from = oldest[n - 1 - i].from;
        s.branches[i].to = oldest[n - 1 - i].to;
        err = write_module(fd, oldest[i].from, process);
        if (!err)
            err = write_module(fd, oldest[i].to, process);
    }
    return err ? err : put(fd, &s, s.head.size);
}

static int put_window(int fd, const struct pgbr_engine *x)
{
    const u32 process = (u32)pgg_sys_process();
    const u64 time = now();
    int err = started ? 0 : begin(fd);
    started = true;
    for (u64 i = 0; i < x->n && !err; i += STACK)
        err = put_sample(fd, &x->branches[i], x->n - i < STACK ? x->n - i : STACK, process, time);
    return err ? err : flush(fd);
}

void pgbr_perf_add(const struct pgbr_engine *x)
{
    struct pgg_text t;
    if (refused || !x->n)
        return;
    if (!started) {
        pgg_text_init(&t, path, sizeof path);
        pgg_text_str(&t, pgbr_table_path());
        pgg_text_str(&t, ".perf");
    }
    const int fresh = started ? 0 : O_CREAT | O_TRUNC;
    const long fd = pgg_file_open(path, O_WRONLY | fresh);
    const int err = fd < 0 ? (int)fd : put_window((int)fd, x);
    if (fd >= 0)
        pgg_sys_close((int)fd);
    refused = err;
    if (err)
        pgbr_say(path, pgg_errno_name(err));
}
