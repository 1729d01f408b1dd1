/* What branch stacks consist of: a branch, and the code that ran from its target to the source of
 * the branch that was taken next. There are far fewer different ones than were sampled: what is to
 * be known of one, and whether its addresses are instructions at all, is looked up once.
 *
 * Addresses are offsets from the base of the code. */
#ifndef PGK_STEPS_H
#define PGK_STEPS_H

#include "code.h"
#include "counters.h"
#include "index.h"

/* An address that is no instruction of the binary; of an end: none. */
#define PGK_STEP_OUT UINT32_MAX

enum pgk_step_kind { PGK_STEP_CALL, PGK_STEP_RETURN, PGK_STEP_OTHER };

struct pgk_step {
    uint32_t from, to, end;
    enum pgk_step_kind kind : 8;
    bool impossible; /* control cannot have run from `to` to `end` */
    uint64_t call;   /* address of the call instruction: of a call itself, of a return the one that
                      * it went back behind, 0 if there is none; or PGK_ADDR_EXTERNAL */
    uint64_t count;  /* of those without calling contexts */
};

struct pgk_steps {
    PGK_VEC(struct pgk_step) v;
    struct pgk_index index;
};

/* The address that a branch came from; PGK_ADDR_EXTERNAL for elsewhere. */
static inline uint64_t pgk_step_source(const struct pgk_step *s, const struct pgk_code *code)
{
    return s->from == PGK_STEP_OUT ? PGK_ADDR_EXTERNAL : code->base + s->from;
}

static inline uint64_t pgk_step_hash(uint32_t from, uint32_t to, uint32_t end)
{
    return from * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)end << 32 | to);
}

/* PGK_INDEX_NONE if it is new. */
static inline uint32_t pgk_steps_find(const struct pgk_steps *steps, uint32_t from, uint32_t to,
                                      uint32_t end)
{
    PGK_INDEX_FOR (&steps->index, pgk_step_hash(from, to, end), i) {
        const struct pgk_step *s = &steps->v.v[i];
        if (s->from == from && s->to == to && s->end == end)
            return i;
    }
    return PGK_INDEX_NONE;
}

/* Finds or adds; offsets at which no instruction starts are taken for PGK_STEP_OUT. `step` is
 * PGK_INDEX_NONE if none is left. False when out of memory. */
bool pgk_steps_need(struct pgk_steps *steps, struct pgk_code *code, uint32_t from, uint32_t to,
                    uint32_t end, uint32_t *step);
/* Adds all counts without contexts to the counters. False when out of memory. */
bool pgk_steps_count(const struct pgk_steps *steps, const struct pgk_code *code,
                     struct pgk_counters *counters);
void pgk_steps_free(struct pgk_steps *steps);

/* The call instruction right before an address; 0 if there is none. */
uint64_t pgk_code_call_before(struct pgk_code *code, uint64_t addr);

#endif
