/* Adding profiles to profiles, function by function, and what is made of that: copies with
 * other names or contexts. */
#ifndef PGK_SAMPLE_MERGE_H
#define PGK_SAMPLE_MERGE_H

#include "sample_stage.h"

typedef PGK_VEC(uint32_t) pgk_id_vec;
/* The name of `into` that stands for `name`; 0 when out of memory. */
typedef uint32_t pgk_rename_fn(void *ctx, struct pgk_sample *into,
                               const struct pgk_sample_name *name);

struct pgk_sample_merger {
    struct pgk_sample *into;
    const struct pgk_sample *from;
    pgk_rename_fn *rename;     /* NULL: names stay */
    void *rename_ctx;
    uint32_t discriminator_mask; /* bits that places keep */
    uint32_t cleared_of_calls;   /* bits of these that inlined calls lose */
    struct pgk_sample_stage stage;
    pgk_id_vec name_of;        /* by name of `from`: name of `into`, or 0 */
    pgk_id_vec node_of;        /* by context of `from`: node of `into`, or 0 */
};

/* Also takes over symbols and what the profile is, but for contexts and probes. To be closed
 * in any case. */
PGK_MUST_USE int pgk_merger_open(struct pgk_sample_merger *m, struct pgk_sample *into,
                                 const struct pgk_sample *from, struct pgk_err *err);
void pgk_merger_close(struct pgk_sample_merger *m);
uint32_t pgk_merger_name(struct pgk_sample_merger *m, uint32_t name);
/* Adds a top, of whose context the last `frames` are kept. */
#define PGK_ALL_FRAMES UINT32_MAX
PGK_MUST_USE int pgk_merger_add(struct pgk_sample_merger *m, uint32_t top, unsigned frames,
                                uint64_t weight, struct pgk_err *err);
/* Puts a node and its inlinees into a slot of the stage. False when out of memory. */
bool pgk_merger_stage(struct pgk_sample_merger *m, uint32_t slot, uint32_t node);
/* True if `into` has a profile of the same function or context. */
bool pgk_merger_has(struct pgk_sample_merger *m, uint32_t top);
PGK_MUST_USE int pgk_merger_add_all(struct pgk_sample_merger *m, uint64_t weight,
                                    struct pgk_err *err);

/* Adds the first `n` contexts by heat of a finished profile to the functions themselves. */
PGK_MUST_USE int pgk_sample_merge_contexts(struct pgk_sample *into, const struct pgk_sample *from,
                                           size_t n, struct pgk_err *err);

#endif
