/* Branches with the code that ran after them, each kept once. */
#include "steps.h"

uint64_t pgk_code_call_before(struct pgk_code *code, uint64_t addr)
{
    uint64_t before = pgk_code_before(code, addr);
    return before != UINT64_MAX && pgk_code_kind(pgk_code_mark(code, before)) == PGK_INSN_CALL
               ? before
               : 0;
}

/* The target of a branch from elsewhere shows its kind: the place right after a call was returned
 * to. */
static void find_kind(struct pgk_step *s, struct pgk_code *code)
{
    uint64_t behind = s->to == PGK_STEP_OUT ? PGK_ADDR_EXTERNAL
                                            : pgk_code_call_before(code, code->base + s->to);
    enum pgk_insn_kind kind = PGK_INSN_OTHER;
    s->kind = PGK_STEP_OTHER;
    if (s->from == PGK_STEP_OUT)
        kind = behind ? PGK_INSN_RET : PGK_INSN_CALL;
    else
        kind = pgk_code_kind(pgk_code_mark(code, code->base + s->from));
    if (kind == PGK_INSN_CALL) {
        s->kind = PGK_STEP_CALL;
        s->call = pgk_step_source(s->from, code);
    } else if (kind == PGK_INSN_RET) {
        s->kind = PGK_STEP_RETURN;
        s->call = behind;
    }
}

static uint32_t instruction(struct pgk_code *code, uint32_t off)
{
    return off != PGK_STEP_OUT && pgk_code_is(code, code->base + off) ? off : PGK_STEP_OUT;
}

/* Takes what is no instruction for elsewhere; false if nothing is left. */
static bool keep_instructions(struct pgk_code *code, uint32_t *from, uint32_t *to, uint32_t *end)
{
    *from = instruction(code, *from);
    *to = instruction(code, *to);
    *end = *to == PGK_STEP_OUT ? PGK_STEP_OUT : instruction(code, *end);
    return *from != PGK_STEP_OUT || *to != PGK_STEP_OUT;
}

bool pgk_steps_need(struct pgk_steps *steps, struct pgk_code *code, uint32_t from, uint32_t to,
                    uint32_t end, uint32_t *step)
{
    *step = PGK_STEP_NONE;
    if (!keep_instructions(code, &from, &to, &end))
        return true;
    struct pgk_step s = {.from = from, .to = to, .end = end};
    struct pgk_step_entry *e = pgk_step_table_need(&steps->table, s.from, s.to, s.end);
    if (!e)
        return false;
    if (!e->value) {
        find_kind(&s, code);
        s.impossible = s.end != PGK_STEP_OUT &&
                       !pgk_code_is_straight(code, code->base + s.to, code->base + s.end);
        if (!pgk_vec_push(&steps->list, s))
            return false;
        e->value = (uint32_t)steps->list.n;
    }
    *step = e->value - 1;
    return true;
}

void pgk_steps_free(struct pgk_steps *steps)
{
    pgk_vec_free(&steps->list);
    pgk_step_table_free(&steps->table);
}

static bool add_counts(struct pgk_counters *counters, const struct pgk_code *code,
                       const struct pgk_step_entry *e, uint64_t count)
{
    uint64_t to = code->base + e->to;
    return e->to == PGK_STEP_OUT ||
           (pgk_pairs_add(&counters->branches, pgk_step_source(e->from, code), to, count) &&
            (e->end == PGK_STEP_OUT ||
             pgk_pairs_add(&counters->ranges, to, code->base + e->end, count)));
}

bool pgk_step_counts_add(struct pgk_step_table *counts, struct pgk_code *code,
                         struct pgk_counters *counters, uint32_t *from, uint32_t *to, uint32_t end,
                         uint64_t count)
{
    if (!keep_instructions(code, from, to, &end) || !count)
        return true;
    struct pgk_step_entry *e = pgk_step_table_need(counts, *from, *to, end);
    if (!e)
        return false;
    uint32_t low = (uint32_t)(count < UINT32_MAX - e->value ? count : UINT32_MAX - e->value);
    e->value += low;
    return low == count || add_counts(counters, code, e, count - low);
}

bool pgk_step_counts_move(struct pgk_step_table *counts, const struct pgk_code *code,
                          struct pgk_counters *counters)
{
    for (size_t i = 0; counts->v && i <= counts->mask; i++)
        if (counts->v[i].value && !add_counts(counters, code, &counts->v[i], counts->v[i].value))
            return false;
    pgk_step_table_free(counts);
    return true;
}
