/* Staging of one top of a profile: readers put down what they read, in order and without
 * looking anything up, and commit it to the model when it is complete. Only then are its
 * checksums known, which decide what it may be added to. */
#ifndef PGK_SAMPLE_STAGE_H
#define PGK_SAMPLE_STAGE_H

#include "sample_model.h"

#define PGK_STAGE_NONE UINT32_MAX

/* A function or an inlinee below it; slot 0 is the function. Parents come first. */
struct pgk_stage_node {
    uint64_t loc, total, head, checksum;
    uint32_t name, parent, attributes;
    uint32_t depth;
    uint32_t id;         /* in the model, once committed */
    uint32_t last_child; /* in the model, the one committed last: its sibling is the hint */
    bool ordered;        /* the records are in order, but for what `run` says */
    uint32_t run;        /* 0, or where an order of its own begins */
    PGK_VEC(struct pgk_sample_rec) recs;
};

struct pgk_sample_stage {
    PGK_VEC(struct pgk_stage_node) slots; /* all ever used; they keep their memory */
    uint32_t n;                           /* used now */
};

void pgk_stage_free(struct pgk_sample_stage *s);
/* Starts a new function; its slot is 0. False when out of memory. */
bool pgk_stage_begin(struct pgk_sample_stage *s, uint32_t name);
/* The slot of an inlinee; PGK_STAGE_NONE when out of memory. */
uint32_t pgk_stage_inlinee(struct pgk_sample_stage *s, uint32_t parent, uint64_t loc,
                           uint32_t name);
/* For records that do not follow the last one. */
bool pgk_stage_add_odd(struct pgk_stage_node *n, uint64_t loc, uint32_t what, uint64_t count);
/* Any number of times for one key; `what` as in a model's record. False when out of memory. */
static inline bool pgk_stage_add(struct pgk_stage_node *n, uint64_t loc, uint32_t what,
                                 uint64_t count)
{
    if (PGK_UNLIKELY(!pgk_vec_reserve(&n->recs, 1)))
        return false;
    struct pgk_sample_rec *to = &n->recs.v[n->recs.n];
    if (n->recs.n > n->run && pgk_rec_compare_key(to - 1, loc, what) >= 0)
        return pgk_stage_add_odd(n, loc, what, count);
    n->recs.n++;
    pgk_rec_set(to, loc, what, count);
    return true;
}
/* The following records have their own order: the types of a binary record, which come after its
 * lines. At most once. */
static inline void pgk_stage_new_run(struct pgk_stage_node *n)
{
    n->run = (uint32_t)n->recs.n;
}

/* The place of the top: below `caller` at `loc`, or on its own with caller 0. `hint` is 0 or its
 * node, or that of a profile with another checksum. */
struct pgk_stage_place {
    uint32_t caller, hint;
    uint64_t loc;
};
/* The place of a context that is in the model. */
struct pgk_stage_place pgk_stage_place_of(const struct pgk_sample *p, uint32_t context);
/* Adds all to the model, times `weight`. */
PGK_MUST_USE int pgk_stage_commit(struct pgk_sample_stage *s, struct pgk_sample *p,
                                  struct pgk_stage_place place, uint64_t weight,
                                  struct pgk_err *err);

#endif
