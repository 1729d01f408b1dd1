/* A step, the unit of branch stacks: a branch, and the code that ran from its target to the source
 * of the branch that was taken next. There are far fewer different ones than were sampled: what is
 * to be known of one, and whether its addresses are instructions at all, is looked up once.
 *
 * Addresses are offsets from the base of the code. */
#ifndef PGK_STEPS_H
#define PGK_STEPS_H

#include "code.h"
#include "counters.h"
#include "step_table.h"

/* An address that is no instruction of the binary; of an end: none. */
#define PGK_STEP_OUT UINT32_MAX

enum pgk_step_kind { PGK_STEP_CALL, PGK_STEP_RETURN, PGK_STEP_OTHER };

struct pgk_step {
    uint32_t from, to, end;
    enum pgk_step_kind kind : 8;
    bool impossible; /* control cannot have run from `to` to `end` */
    uint64_t call;   /* address of the call instruction: for a call itself, for a return the one
                      * that it returned to, 0 if there is none; or PGK_ADDR_EXTERNAL */
};

/* No step at all. */
#define PGK_STEP_NONE UINT32_MAX

struct pgk_steps {
    PGK_VEC(struct pgk_step) list;
    struct pgk_step_table table; /* value: position in `list` + 1 */
};

/* The address that a branch came from; PGK_ADDR_EXTERNAL for elsewhere. */
static inline uint64_t pgk_step_source(uint32_t from, const struct pgk_code *code)
{
    return from == PGK_STEP_OUT ? PGK_ADDR_EXTERNAL : code->base + from;
}

/* The number of a step; PGK_STEP_NONE if it is new. */
static inline uint32_t pgk_steps_find(const struct pgk_steps *steps, uint32_t from, uint32_t to,
                                      uint32_t end)
{
    return steps->table.v ? pgk_step_table_find(&steps->table, from, to, end)->value - 1
                          : PGK_STEP_NONE;
}

/* Finds or adds; offsets at which no instruction starts are taken for PGK_STEP_OUT. `step` is
 * PGK_STEP_NONE if none is left. False when out of memory. */
bool pgk_steps_need(struct pgk_steps *steps, struct pgk_code *code, uint32_t from, uint32_t to,
                    uint32_t end, uint32_t *step);
void pgk_steps_free(struct pgk_steps *steps);

/* Without calling contexts it is enough to count: the value of a step is how often it occurred, and
 * counts beyond 32 bits go to the counters at once. `from` and `to` are set to PGK_STEP_OUT if no
 * instruction starts there. False when out of memory. */
bool pgk_step_counts_add(struct pgk_step_table *counts, struct pgk_code *code,
                         struct pgk_counters *counters, uint32_t *from, uint32_t *to, uint32_t end,
                         uint64_t count);
/* Moves all to the counters. False when out of memory. */
bool pgk_step_counts_move(struct pgk_step_table *counts, const struct pgk_code *code,
                          struct pgk_counters *counters);

/* The call instruction right before an address; 0 if there is none. */
uint64_t pgk_code_call_before(struct pgk_code *code, uint64_t addr);

#endif
