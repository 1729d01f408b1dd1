/* Branches with the code that ran after them, each kept once. */
#include "steps.h"

uint64_t pgk_code_call_before(struct pgk_code *code, uint64_t addr)
{
    uint64_t before = pgk_code_before(code, addr);
    return before != UINT64_MAX && pgk_code_kind(pgk_code_mark(code, before)) == PGK_INSN_CALL
               ? before
               : 0;
}

/* Of a branch from elsewhere the target tells: what comes right after a call was returned to. */
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
        s->call = pgk_step_source(s, code);
    } else if (kind == PGK_INSN_RET) {
        s->kind = PGK_STEP_RETURN;
        s->call = behind;
    }
}

static uint32_t instruction(struct pgk_code *code, uint32_t off)
{
    return off != PGK_STEP_OUT && pgk_code_is(code, code->base + off) ? off : PGK_STEP_OUT;
}

bool pgk_steps_need(struct pgk_steps *steps, struct pgk_code *code, uint32_t from, uint32_t to,
                    uint32_t end, uint32_t *step)
{
    struct pgk_step s = {.from = instruction(code, from), .to = instruction(code, to)};
    *step = PGK_INDEX_NONE;
    if (s.from == PGK_STEP_OUT && s.to == PGK_STEP_OUT)
        return true;
    s.end = s.to == PGK_STEP_OUT ? PGK_STEP_OUT : instruction(code, end);
    *step = pgk_steps_find(steps, s.from, s.to, s.end);
    if (*step != PGK_INDEX_NONE)
        return true;
    find_kind(&s, code);
    s.impossible = s.end != PGK_STEP_OUT &&
                   !pgk_code_is_straight(code, code->base + s.to, code->base + s.end);
    *step = (uint32_t)steps->v.n;
    return pgk_vec_push(&steps->v, s) &&
           pgk_index_add(&steps->index, pgk_step_hash(s.from, s.to, s.end), *step);
}

bool pgk_steps_count(const struct pgk_steps *steps, const struct pgk_code *code,
                     struct pgk_counters *counters)
{
    for (size_t i = 0; i < steps->v.n; i++) {
        const struct pgk_step *s = &steps->v.v[i];
        uint64_t from = pgk_step_source(s, code), to = code->base + s->to;
        if (s->to == PGK_STEP_OUT)
            continue;
        if (!pgk_pairs_add(&counters->branches, from, to, s->count) ||
            (s->end != PGK_STEP_OUT &&
             !pgk_pairs_add(&counters->ranges, to, code->base + s->end, s->count)))
            return false;
    }
    return true;
}

void pgk_steps_free(struct pgk_steps *steps)
{
    pgk_vec_free(&steps->v);
    pgk_index_free(&steps->index);
}
