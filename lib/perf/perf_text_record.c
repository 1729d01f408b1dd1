/* Lines of a text that print a PERF_RECORD, and the dumps of perf report -D. */
#include "hex.h"
#include "perf_text_priv.h"
#include "search.h"

/* ---- processes ---- */

static size_t find_process(const struct pgk_text_reader *t, int32_t pid)
{
    PGK_SEARCH(low, t->processes.n, mid, t->processes.v[mid] < pid)
    return low;
}

bool pgk_text_knows_process(const struct pgk_text_reader *t, int32_t pid)
{
    size_t i = find_process(t, pid);
    return i < t->processes.n && t->processes.v[i] == pid;
}

static int note_process(struct pgk_text_reader *t, int32_t pid)
{
    if (pgk_text_knows_process(t, pid))
        return 0;
    size_t i = find_process(t, pid);
    if (!pgk_vec_push(&t->processes, pid))
        return pgk_fail_nomem(t->err);
    memmove(&t->processes.v[i + 1], &t->processes.v[i],
            (t->processes.n - 1 - i) * sizeof *t->processes.v);
    t->processes.v[i] = pid;
    return 0;
}

/* ---- records ---- */

/* As C prints numbers by "%#x". */
static const uint8_t *hex_or_zero(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    const uint8_t *rest = pgk_text_0x(p, end, value);
    if (rest || p == end || *p != '0')
        return rest;
    *value = 0;
    return p + 1;
}

/* PERF_RECORD_MMAP2 1/1: [0x1000(0x2000) @ 0x3000 08:01 77 0]: r-xp /opt/a `p` is after the name of
 * the record. */
static int read_mapping(struct pgk_text_reader *t, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *line = p;
    struct pgk_perf_mapping m = {.time = t->line};
    uint64_t tid;
    p = pgk_text_pid(p, end, &m.pid);
    p = pgk_text_word(p, end, "/");
    p = p ? pgk_text_decimal(p, end, &tid) : NULL;
    p = pgk_text_word(p, end, ": [");
    p = p ? hex_or_zero(p, end, &m.start) : NULL;
    p = pgk_text_word(p, end, "(");
    p = p ? pgk_text_0x(p, end, &m.size) : NULL;
    p = pgk_text_word(p, end, ") @ ");
    if (p) {
        const uint8_t *offset = pgk_text_0x(p, end, &m.file_offset);
        p = offset ? offset : pgk_text_decimal(p, end, &m.file_offset);
    }
    if (p && pgk_text_word(p, end, " <")) {
        m.build_id_size = (uint32_t)pgk_hex_read((const char *)p + 2, (const char *)end,
                                                 m.build_id, PGK_BUILD_ID_MAX);
    }
    while (p && !pgk_text_word(p, end, "]: "))
        p = p < end ? p + 1 : NULL;
    if (!p) {
        pgk_text_unreadable(t, line, end);
        return 0;
    }
    p += strlen("]: ");
    for (; p < end && !pgk_text_is_blank(*p); p++)
        m.prot |= *p == 'r'   ? PGK_PROT_READ
                  : *p == 'w' ? PGK_PROT_WRITE
                  : *p == 'x' ? PGK_PROT_EXEC
                              : 0;
    p = pgk_text_skip_blanks(p, end);
    m.path = (const char *)p;
    m.path_len = (size_t)(end - p);
    t->info->mappings++;
    PGK_TRY(note_process(t, m.pid));
    if (m.pid != PGK_PID_KERNEL && m.prot & PGK_PROT_EXEC &&
        (!t->lowest_code || m.start < t->lowest_code))
        t->lowest_code = m.start;
    return t->handler->mapping ? t->handler->mapping(t->handler->ctx, &m) : 0;
}

/* PERF_RECORD_SAMPLE(IP, 0x4002): 23884/23884: 0x563bcba8c19c period: 233 addr: 0x563bcba8ed28 */
static int read_dumped_sample(struct pgk_text_reader *t, const uint8_t *p, const uint8_t *end)
{
    uint64_t misc, tid;
    struct pgk_perf_sample s = {.has = PGK_PERF_HAS_IP, .cpu = UINT32_MAX};
    t->is_dump = true;
    while (p < end && *p != ',')
        p++;
    p = pgk_text_word(p, end, ", ");
    p = p ? pgk_text_0x(p, end, &misc) : NULL;
    p = pgk_text_word(p, end, "): ");
    p = p ? pgk_text_pid(p, end, &s.pid) : NULL;
    p = pgk_text_word(p, end, "/");
    p = p ? pgk_text_decimal(p, end, &tid) : NULL;
    p = pgk_text_word(p, end, ": ");
    p = p ? pgk_text_0x(p, end, &s.ip) : NULL;
    p = pgk_text_word(p, end, " period: ");
    p = p ? pgk_text_decimal(p, end, &s.period) : NULL;
    p = pgk_text_word(p, end, " addr: ");
    if (!p)
        return 0; /* a kernel's address of 0, for instance */
    s.mode = (enum pgk_perf_mode)(misc & 7);
    s.tid = (int32_t)tid;
    if (pgk_text_0x(p, end, &s.addr) && s.addr)
        s.has |= PGK_PERF_HAS_ADDR;
    return pgk_text_pass_sample(t, &s);
}

/* PERF_RECORD_FORK(2:2):(1:1) */
static int read_fork_or_exit(struct pgk_text_reader *t, const uint8_t *p, const uint8_t *end,
                             enum pgk_perf_task_kind kind)
{
    struct pgk_perf_task task = {.kind = kind, .time = t->line};
    p = pgk_text_pid(p, end, &task.pid);
    p = pgk_text_word(p, end, ":");
    p = p ? pgk_text_pid(p, end, &task.tid) : NULL;
    p = pgk_text_word(p, end, "):(");
    if (!p || !pgk_text_pid(p, end, &task.parent))
        return 0;
    t->info->tasks++;
    PGK_TRY(note_process(t, task.pid));
    return t->handler->task ? t->handler->task(t->handler->ctx, &task) : 0;
}

/* PERF_RECORD_COMM exec: name:2/2 */
static int read_name(struct pgk_text_reader *t, const uint8_t *p, const uint8_t *end)
{
    struct pgk_perf_task task = {.kind = PGK_PERF_NAME, .time = t->line};
    const uint8_t *name = pgk_text_word(p, end, " exec: ");
    if (name)
        task.kind = PGK_PERF_EXEC;
    else if (!(name = pgk_text_word(p, end, ": ")))
        return 0;
    const uint8_t *colon = memrchr(name, ':', (size_t)(end - name)); /* names may have some, too */
    const uint8_t *ids = colon ? pgk_text_pid(colon + 1, end, &task.pid) : NULL;
    ids = pgk_text_word(ids, end, "/");
    if (!ids || !pgk_text_pid(ids, end, &task.tid))
        return 0;
    task.name = (const char *)name;
    task.name_len = (size_t)(colon - name);
    t->info->tasks++;
    PGK_TRY(note_process(t, task.pid));
    return t->handler->task ? t->handler->task(t->handler->ctx, &task) : 0;
}

/* ---- dumps ---- */

/* .  00000000:  b0 00 10 40 00 00 00 00 80                      PC 0x401000 el0 ns=1 */
bool pgk_text_read_trace(struct pgk_text_reader *t, const uint8_t *line, const uint8_t *end,
                         int *status)
{
    enum { BYTES_OF_A_LINE = 16 };
    uint64_t value;
    const uint8_t *p = pgk_text_word(line, end, ".");
    p = p ? pgk_text_hex(pgk_text_skip_blanks(p, end), end, &value) : NULL;
    p = pgk_text_word(p, end, ": ");
    for (int i = 0; p && i < BYTES_OF_A_LINE && end - p >= 3 && *p == ' ' &&
                    pgk_text_hex(p + 1, p + 3, &value) == p + 3; i++) {
        if (!pgk_vec_push(&t->trace, (uint8_t)value)) {
            *status = pgk_fail_nomem(t->err);
            return true;
        }
        p += 3;
    }
    if (p)
        return true;
    t->in_trace = false;
    if (!pgk_vec_push(&t->trace_ends, t->trace.n))
        *status = pgk_fail_nomem(t->err);
    return *status != 0;
}

int pgk_text_pass_traces(struct pgk_text_reader *t)
{
    size_t start = 0;
    if (t->in_trace && !pgk_vec_push(&t->trace_ends, t->trace.n))
        return pgk_fail_nomem(t->err);
    for (size_t i = 0; i < t->trace_ends.n && t->handler->trace; i++) {
        const struct pgk_perf_trace trace = {.type = PGK_PERF_TRACE_SPE,
                                             .cpu = UINT32_MAX,
                                             .tid = UINT32_MAX,
                                             .bytes = t->trace.v + start,
                                             .size = t->trace_ends.v[i] - start};
        start = t->trace_ends.v[i];
        PGK_TRY(t->handler->trace(t->handler->ctx, &trace));
    }
    return 0;
}

/* Lines that perf report -D prints between records, and perf script never. */
static bool is_of_a_dump(const uint8_t *line, const uint8_t *end)
{
    uint64_t offset;
    const uint8_t *p = pgk_text_word(line, end, ". ... ");
    if (p)
        return true;
    p = pgk_text_0x(line, end, &offset);
    return p && p < end && (*p == '@' || *p == ' ') &&
           memmem(p, (size_t)(end - p), "]: event: ", 10);
}

static int read_line_of_dump(struct pgk_text_reader *t, const uint8_t *line, const uint8_t *end)
{
    t->is_dump |= is_of_a_dump(line, end);
    t->in_trace = pgk_text_word(line, end, ". ... ARM SPE data: size ");
    if (!t->is_dump)
        pgk_text_unreadable(t, line, end);
    return 0;
}

int pgk_text_read_record(struct pgk_text_reader *t, const uint8_t *line, const uint8_t *end)
{
    static const char keyword[] = "PERF_RECORD_";
    const uint8_t *p = memmem(line, (size_t)(end - line), keyword, strlen(keyword)), *q;
    if (!p)
        return read_line_of_dump(t, line, end);
    p += strlen(keyword);
    if ((q = pgk_text_word(p, end, "MMAP2 ")) || (q = pgk_text_word(p, end, "MMAP ")))
        return read_mapping(t, q, end);
    if ((q = pgk_text_word(p, end, "SAMPLE(")))
        return read_dumped_sample(t, q, end);
    if ((q = pgk_text_word(p, end, "FORK(")))
        return read_fork_or_exit(t, q, end, PGK_PERF_FORK);
    if ((q = pgk_text_word(p, end, "EXIT(")))
        return read_fork_or_exit(t, q, end, PGK_PERF_EXIT);
    if ((q = pgk_text_word(p, end, "COMM")))
        return read_name(t, q, end);
    return 0;
}
