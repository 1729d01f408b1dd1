/* Line programs. Each is run twice at most: once for the addresses alone, to learn
 * where its sequences lie, and then fully for the sequences that are asked about. Rows
 * are never stored; the queries are sorted and answered while the rows go by. */
#include "dwarf_line_priv.h"
#include "search.h"

#include <assert.h>
#include <dwarf.h>

/* The state machine of DWARF. */
struct machine {
    const struct pgk_dw_lines *t;
    struct pgk_dw_pos at;
    uint64_t addr;
    unsigned op_index;
    uint32_t file, line, column, discriminator;
};

enum event { EVENT_ROW, EVENT_END, EVENT_DAMAGED };

static void reset(struct machine *m)
{
    m->addr = 0;
    m->op_index = 0;
    m->file = 1;
    m->line = 1;
    m->column = 0;
    m->discriminator = 0;
}

static void advance(struct machine *m, uint64_t operations)
{
    const struct pgk_dw_lines *t = m->t;
    if (t->max_ops == 1) {
        m->addr += operations * t->min_inst;
        return;
    }
    uint64_t n = m->op_index + operations;
    m->addr += n / t->max_ops * t->min_inst;
    m->op_index = (unsigned)(n % t->max_ops);
}

/* Operations that a special opcode advances by. */
static unsigned operations(const struct pgk_dw_lines *t, unsigned opcode)
{
    return t->line_range ? (opcode - t->opcode_base) / t->line_range : 0;
}

/* True at the end of a sequence. */
static bool extended(struct machine *m)
{
    uint64_t size = pgk_dw_uleb(&m->at);
    const uint8_t *p = pgk_dw_take(&m->at, size);
    if (!p || !size)
        return false;
    struct pgk_dw_pos at = {p + 1, p + size, false};
    switch (*p) {
    case DW_LNE_end_sequence:
        return true;
    case DW_LNE_set_address:
        m->addr = pgk_dw_uint(&at, size >= 9 ? 8 : (unsigned)size - 1);
        m->op_index = 0;
        break;
    case DW_LNE_set_discriminator:
        m->discriminator = (uint32_t)pgk_dw_uleb(&at);
        break;
    default: /* DW_LNE_define_file, which no compiler writes, and vendors' own */
        break;
    }
    return false;
}

/* Runs up to the next row. */
static enum event next_row(struct machine *m)
{
    const struct pgk_dw_lines *t = m->t;
    m->discriminator = 0;
    while (m->at.p < m->at.end && !m->at.bad) {
        unsigned op = *m->at.p++;
        if (op >= t->opcode_base) {
            advance(m, operations(t, op));
            if (t->line_range)
                m->line += (uint32_t)(t->line_base +
                                      (int)((op - t->opcode_base) % t->line_range));
            return EVENT_ROW;
        }
        switch (op) {
        case 0:
            if (extended(m))
                return EVENT_END;
            break;
        case DW_LNS_copy:
            return EVENT_ROW;
        case DW_LNS_advance_pc:
            advance(m, pgk_dw_uleb(&m->at));
            break;
        case DW_LNS_advance_line:
            m->line += (uint32_t)pgk_dw_sleb(&m->at);
            break;
        case DW_LNS_set_file:
            m->file = (uint32_t)pgk_dw_uleb(&m->at);
            break;
        case DW_LNS_set_column:
            m->column = (uint16_t)pgk_dw_uleb(&m->at);
            break;
        case DW_LNS_const_add_pc:
            advance(m, operations(t, 255));
            break;
        case DW_LNS_fixed_advance_pc:
            m->addr += pgk_dw_uint(&m->at, 2);
            m->op_index = 0;
            break;
        case DW_LNS_negate_stmt:
        case DW_LNS_set_basic_block:
        case DW_LNS_set_prologue_end:
        case DW_LNS_set_epilogue_begin:
            break;
        default:
            for (unsigned i = 0; i < t->operands[op]; i++)
                (void)pgk_dw_uleb(&m->at);
            break;
        }
    }
    return EVENT_DAMAGED;
}

static bool add_sequence(struct pgk_dw_lines *t, uint64_t low, uint64_t high, const uint8_t *from,
                         const uint8_t *to)
{
    if (low >= high)
        return true; /* empty, or of discarded code at -1 */
    return pgk_vec_push(&t->sequences, (struct pgk_dw_sequence){
                                           .low = low,
                                           .high = high,
                                           .from = (uint64_t)(from - t->program.p),
                                           .to = (uint64_t)(to - t->program.p),
                                       });
}

/* The general case, for machines with several operations in an instruction. */
static bool index_slowly(struct pgk_dw_lines *t)
{
    struct machine m = {.t = t, .at = {t->program.p, t->program.p + t->program.n, false}};
    const uint8_t *from = m.at.p;
    uint64_t low = 0;
    bool first = true;
    reset(&m);
    for (;;) {
        enum event e = next_row(&m);
        if (e == EVENT_DAMAGED)
            return true;
        if (first)
            low = m.addr;
        first = false;
        if (e == EVENT_END) {
            if (!add_sequence(t, low, m.addr, from, m.at.p))
                return false;
            reset(&m);
            from = m.at.p;
            first = true;
        }
    }
}

static inline void skip_leb(struct pgk_dw_pos *at)
{
    const uint8_t *p = at->p;
    while (p < at->end && (*p & 0x80))
        p++;
    at->p = p < at->end ? p + 1 : p;
}

/* Indexes sequences with a machine that keeps nothing but the address. */
static bool index_fast(struct pgk_dw_lines *t)
{
    struct machine m = {.t = t, .at = {t->program.p, t->program.p + t->program.n, false}};
    uint32_t adds[256];
    for (unsigned op = 0; op < 256; op++)
        adds[op] = op >= t->opcode_base ? operations(t, op) * t->min_inst : 0;
    uint32_t const_add = operations(t, 255) * t->min_inst;
    const uint8_t *from = m.at.p;
    uint64_t low = 0;
    bool first = true;
    while (m.at.p < m.at.end && !m.at.bad) {
        unsigned op = *m.at.p++;
        if (op >= t->opcode_base || op == DW_LNS_copy) {
            m.addr += adds[op];
            if (first)
                low = m.addr;
            first = false;
            continue;
        }
        switch (op) {
        case 0:
            if (!extended(&m))
                break;
            if (!first && !add_sequence(t, low, m.addr, from, m.at.p))
                return false;
            m.addr = 0;
            from = m.at.p;
            first = true;
            break;
        case DW_LNS_advance_pc:
            m.addr += pgk_dw_uleb(&m.at) * t->min_inst;
            break;
        case DW_LNS_const_add_pc:
            m.addr += const_add;
            break;
        case DW_LNS_fixed_advance_pc:
            m.addr += pgk_dw_uint(&m.at, 2);
            break;
        case DW_LNS_advance_line:
        case DW_LNS_set_file:
        case DW_LNS_set_column:
            skip_leb(&m.at);
            break;
        case DW_LNS_negate_stmt:
        case DW_LNS_set_basic_block:
        case DW_LNS_set_prologue_end:
        case DW_LNS_set_epilogue_begin:
            break;
        default:
            for (unsigned i = 0; i < t->operands[op]; i++)
                skip_leb(&m.at);
            break;
        }
    }
    return true;
}

static bool index_sequences(struct pgk_dw_lines *t)
{
    if (atomic_load_explicit(&t->indexed, memory_order_acquire))
        return true;
    pthread_mutex_lock(&t->lock);
    bool ok = true;
    if (!atomic_load_explicit(&t->indexed, memory_order_relaxed)) {
        t->sequences.n = 0;
        ok = t->max_ops == 1 ? index_fast(t) : index_slowly(t);
        atomic_store_explicit(&t->indexed, ok, memory_order_release);
    }
    pthread_mutex_unlock(&t->lock);
    return ok;
}

size_t pgk_dw_lower_bound(const uint64_t *addrs, size_t count, uint64_t addr)
{
    PGK_SEARCH(low, count, mid, addrs[mid] < addr)
    return low;
}

/* Answers the queries from `i` on that chose sequence number `chosen`. A row holds for
 * the addresses up to the next row; of rows with one address the last one counts. */
static void answer(const struct pgk_dw_lines *t, uint32_t number, const uint64_t *addrs,
                   size_t count, size_t i, const uint32_t *chosen, struct pgk_dw_row *rows)
{
    assert(i < count && number < t->sequences.n);
    const struct pgk_dw_sequence *s = &t->sequences.v[number];
    struct machine m = {.t = t, .at = {t->program.p + s->from, t->program.p + s->to, false}};
    struct machine before = {0};
    bool have = false;
    reset(&m);
    for (;;) {
        enum event e = next_row(&m);
        for (; have && i < count && addrs[i] < m.addr; i++) {
            if (addrs[i] < before.addr || chosen[i] != number)
                continue;
            rows[i] = (struct pgk_dw_row){before.file, before.line, before.column,
                                          before.discriminator, true};
        }
        if (e != EVENT_ROW || i == count || addrs[i] >= s->high)
            return;
        before = m;
        have = true;
    }
}

bool pgk_dw_lines_find(const struct pgk_dw_lines *table, const uint64_t *addrs, size_t count,
                       struct pgk_dw_row *rows)
{
    struct pgk_dw_lines *t = (struct pgk_dw_lines *)(uintptr_t)table;
    memset(rows, 0, count * sizeof *rows);
    if (!t || !count)
        return true;
    uint32_t *chosen = pgk_mem_alloc(count, sizeof *chosen);
    if (!chosen || !index_sequences(t)) {
        pgk_mem_free(chosen);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        chosen[i] = PGK_INDEX_NONE;
    /* Of several sequences that hold an address, the one that ends first. */
    for (uint32_t n = 0; n < t->sequences.n; n++) {
        const struct pgk_dw_sequence *s = &t->sequences.v[n];
        if (addrs[count - 1] < s->low || addrs[0] >= s->high)
            continue;
        for (size_t i = pgk_dw_lower_bound(addrs, count, s->low);
             i < count && addrs[i] < s->high; i++)
            if (chosen[i] == PGK_INDEX_NONE || s->high < t->sequences.v[chosen[i]].high)
                chosen[i] = n;
    }
    for (uint32_t n = 0; n < t->sequences.n; n++) {
        const struct pgk_dw_sequence *s = &t->sequences.v[n];
        size_t i = pgk_dw_lower_bound(addrs, count, s->low);
        while (i < count && addrs[i] < s->high && chosen[i] != n)
            i++;
        if (i < count && addrs[i] < s->high)
            answer(t, n, addrs, count, i, chosen, rows);
    }
    pgk_mem_free(chosen);
    return true;
}

/* Rows of one sequence; one that repeats the place of the row before says nothing new. */
static bool list_rows(const struct pgk_dw_lines *t, const struct pgk_dw_sequence *s,
                      pgk_dw_addr_vec *out)
{
    struct machine m = {.t = t, .at = {t->program.p + s->from, t->program.p + s->to, false}};
    struct machine before = {0};
    bool first = true;
    reset(&m);
    while (next_row(&m) == EVENT_ROW) {
        bool same = !first && before.line == m.line && before.file == m.file &&
                    before.discriminator == m.discriminator && before.column == m.column;
        if (!same && !pgk_vec_push(out, m.addr))
            return false;
        before = m;
        first = false;
    }
    return true;
}

bool pgk_dw_lines_rows(const struct pgk_dw_lines *table, pgk_dw_addr_vec *out)
{
    struct pgk_dw_lines *t = (struct pgk_dw_lines *)(uintptr_t)table;
    if (!t)
        return true;
    if (!index_sequences(t))
        return false;
    for (size_t i = 0; i < t->sequences.n; i++)
        if (!list_rows(t, &t->sequences.v[i], out))
            return false;
    return true;
}
