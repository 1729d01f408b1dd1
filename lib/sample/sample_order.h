/* The records of one place in the order of LLVM's files: call targets by count, then name;
 * vtables by name. */
#ifndef PGK_SAMPLE_ORDER_H
#define PGK_SAMPLE_ORDER_H

#include "sample_model.h"

struct pgk_sample_place {
    uint64_t loc;
    bool has_body;
    uint64_t samples;
    const struct pgk_sample_rec *targets, *vtables; /* valid until the next place */
    size_t n_targets, n_vtables;
};

struct pgk_sample_order {
    const struct pgk_sample *p; /* finished */
    PGK_VEC(struct pgk_sample_rec) sorted;
    bool failed; /* out of memory */
};

/* The n call targets, or the n vtables, of one place in order; valid until the next call. NULL and
 * `failed` when out of memory. */
const struct pgk_sample_rec *pgk_order_values(struct pgk_sample_order *o,
                                              const struct pgk_sample_rec *v, size_t n);
/* The place of record `i`, which is its first; returns where the next place begins. */
uint32_t pgk_order_place(struct pgk_sample_order *o, const struct pgk_sample_recs *recs,
                         uint32_t i, struct pgk_sample_place *place);
/* The first record at `loc` or after it. */
uint32_t pgk_order_find_place(const struct pgk_sample_recs *recs, uint64_t loc);
void pgk_order_free(struct pgk_sample_order *o);

#endif
