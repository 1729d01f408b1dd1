/* Code that windows may run in. */
#include "recorder_modules.h"

#include "guest_bytes.h"
#include "guest_frames.h"
#include "guest_modules.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "recorder_table.h"
#include "recorder_thread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

struct pgbr_module pgbr_modules[PGK_BRANCH_MODULES_MAX];
u32 pgbr_modules_n, pgbr_modules_last;

/* Of each, as the file of counts has it. Made while code of it runs, as another thread may close it
 * later. */
static struct pgk_branch_module files[PGK_BRANCH_MODULES_MAX];

enum { NO_FILE = PGK_BRANCH_MODULES_MAX }; /* it has no number yet, or the table is full */

static u32 window;

/* In front of the code to which the kernel goes back when it interrupts a restartable sequence lies
 * this number, as part of an instruction that is never run: ud1 or nop. */
static bool has_restartable(const uint8_t *code, const uint8_t *end)
{
    static const uint8_t mark[] = {0x53, 0x30, 0x05, 0x53};
    const pgg_v16 first = pgg_all_bytes(mark[0]), second = pgg_all_bytes(mark[1]),
                  third = pgg_all_bytes(mark[2]);
    for (const uint8_t *p = code + 3; p + 20 <= end; p += 16) {
        const u32 hits = pgg_high_bits(pgg_same16(pgg_load16(p), first)) &
                         pgg_high_bits(pgg_same16(pgg_load16(p + 1), second)) &
                         pgg_high_bits(pgg_same16(pgg_load16(p + 2), third));
        for (u32 left = hits; left; left &= left - 1) {
            const uint8_t *at = p + __builtin_ctz(left);
            if (at[3] == mark[3] && at[-3] == 0x0f &&
                ((at[-2] == 0xb9 && at[-1] == 0x3d) || (at[-2] == 0x1f && at[-1] == 0x05)))
                return true;
        }
    }
    return false;
}

static void name_file(struct pgk_branch_module *file, const struct pgg_module *found)
{
    const struct pgg_segment *s = &found->segment;
    struct pgg_text t;
    *file = (struct pgk_branch_module){
        .start = s->start - s->bias, .end = s->end - s->bias, .id_size = s->id_size};
    pgg_copy(file->id, s->id, s->id_size);
    pgg_text_init(&t, file->path, sizeof file->path);
    if (found->name && *found->name)
        pgg_text_str(&t, found->name);
    else
        pgg_sys_read_link("/proc/self/exe", file->path, sizeof file->path - 1);
}

void pgbr_modules_learn(u64 pc)
{
    struct pgg_module found;
    if (pgbr_module_of(pc) || pgbr_modules_n == PGK_BRANCH_MODULES_MAX ||
        !pgg_module_at(pc, &found))
        return;
    const struct pgg_segment *s = &found.segment;
    struct pgbr_module *m = &pgbr_modules[pgbr_modules_n];
    *m = (struct pgbr_module){.start = s->start,
                              .end = s->end,
                              .bias = s->bias,
                              .mapped = found.mapped,
                              .mapped_end = found.end,
                              .mark = found.mark,
                              .file_off = found.file_off,
                              .code = PGBR_CODE_KNOWN,
                              .file = NO_FILE};
    if (has_restartable((const uint8_t *)s->start, (const uint8_t *)s->end))
        m->code = PGBR_CODE_RESTARTABLE;
    name_file(&files[pgbr_modules_n], &found);
    __atomic_store_n(&pgbr_modules_n, pgbr_modules_n + 1, __ATOMIC_RELEASE);
}

static void mark_writable(u64 start, u64 end)
{
    pgbr_modules_learn(start);
    pgbr_modules_learn(end - 1);
    for (u32 i = 0; i < pgbr_modules_n; i++)
        if (pgbr_modules[i].start < end && pgbr_modules[i].end > start)
            pgbr_modules[i].may_change = true;
}

PGBR_EXPORT int mprotect(void *start, size_t bytes, int allowed);

/* Whether the program may write code, the kernel does not tell. */
int mprotect(void *start, size_t bytes, int allowed)
{
    if (allowed & PROT_WRITE && bytes) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pgg_lock(&pgbr_lock);
        mark_writable((u64)start, (u64)start + bytes);
        pgg_unlock(&pgbr_lock);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    const int err = pgg_sys_protect(start, bytes, allowed);
    if (err < 0)
        errno = -err;
    return err < 0 ? -1 : 0;
}

static void note_closed(struct pgbr_module *m)
{
    m->end = 0;
    pgg_frames_forget(); /* rules for leaving its frames are of what is gone */
}

/* Another library may lie in the same place, with the same mark, as another build of the one before
 * may have, so that what the program closes is counted, too. */
static u32 closings;

void pgbr_modules_closing(void)
{
    __atomic_fetch_add(&closings, 1, __ATOMIC_RELAXED);
}

/* Of numbers that only grow. */
u32 pgbr_modules_changes(void)
{
    u32 changes = __atomic_load_n(&closings, __ATOMIC_RELAXED);
    for (u32 i = 0; i < pgbr_modules_n; i++) {
        struct pgbr_module *m = &pgbr_modules[i];
        if (m->end && !pgg_module_is_still(m->start, &m->mark))
            note_closed(m);
        changes += !m->end + m->may_change;
    }
    return changes;
}

/* A child has a file of its own, with its own numbers. */
void pgbr_modules_forked(void)
{
    for (u32 i = 0; i < pgbr_modules_n; i++) {
        pgbr_modules[i].file = NO_FILE;
        pgbr_modules[i].written = false;
    }
}

void pgbr_modules_check(void)
{
    window++;
}

/* A closed library has no addresses any more; its place among the modules stays empty. */
static bool is_there(struct pgbr_module *m)
{
    if (m->checked == window)
        return m->end;
    m->checked = window;
    if (!pgg_module_is_still(m->start, &m->mark))
        note_closed(m);
    else if (m->file == NO_FILE)
        m->file = pgbr_table_file(&files[m - pgbr_modules]);
    return m->end;
}

static u64 name_in(struct pgbr_module *m, u64 addr, bool *gone)
{
    if (!m)
        return 0;
    if (!is_there(m)) {
        *gone = true;
        return 0;
    }
    if (m->file == NO_FILE)
        return 0;
    return (u64)(m->file + 1) << PGK_BRANCH_MODULE_SHIFT |
           ((addr - m->bias) & ((UINT64_C(1) << PGK_BRANCH_MODULE_SHIFT) - 1));
}

u64 pgbr_module_name(u64 pc, bool *gone)
{
    return name_in(pgbr_module_of(pc), pc, gone);
}

u64 pgbr_module_data_name(u64 addr, bool *gone)
{
    return name_in(pgbr_module_of_data(addr), addr, gone);
}
