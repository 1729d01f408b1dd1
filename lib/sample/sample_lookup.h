/* Places of a program in a sample profile: which parts of the profile count the code of a copy
 * of a function.
 *
 * A copy is known by its inline stack, outermost function first. A plain profile has it as the
 * inlinee at the end of that path from the outermost function's profile. A context-sensitive
 * one has it in every context that ends with the stack; the same holds for contexts that were
 * nested into their callers by a pre-inliner, whose inlinees need not be the program's. A
 * profile without any inlinees has the samples of all copies in one place.
 *
 *     struct pgk_sample_lookup *l;
 *     pgk_sample_lookup_open(&l, profile, &err);
 *     struct pgk_sample_frame stack[] = {{pgk_sample_loc(4, 0), main}, {0, parse}};
 *     pgk_sample_nodes_vec nodes = {0};
 *     if (pgk_sample_lookup(l, stack, 2, &nodes) && nodes.n)
 *         has = pgk_sample_body(profile, nodes.v, nodes.n, pgk_sample_loc(1, 0), &count);
 *
 * The profile must be finished and outlive the lookup. Read-only once open. */
#ifndef PGK_SAMPLE_LOOKUP_H
#define PGK_SAMPLE_LOOKUP_H

#include "sample_model.h"

struct pgk_sample_lookup;
typedef PGK_VEC(uint32_t) pgk_sample_nodes_vec;
typedef PGK_VEC(struct pgk_sample_rec) pgk_sample_recs_vec;

PGK_MUST_USE int pgk_sample_lookup_open(struct pgk_sample_lookup **l, const struct pgk_sample *p,
                                        struct pgk_err *err);
void pgk_sample_lookup_close(struct pgk_sample_lookup **l);

/* The id of a function's name as a program has it, without what compilers append; 0: the
 * profile does not have it. */
uint32_t pgk_sample_lookup_name(const struct pgk_sample_lookup *l, const char *name, size_t len);
/* Adds the nodes of the copy to `nodes`; the last frame's place is not looked at. False when
 * out of memory. */
PGK_MUST_USE bool pgk_sample_lookup(const struct pgk_sample_lookup *l,
                                    const struct pgk_sample_frame *stack, size_t n,
                                    pgk_sample_nodes_vec *nodes);

/* Samples at a place, added up over the nodes. False if none of them has the place. */
bool pgk_sample_body(const struct pgk_sample *p, const uint32_t *nodes, size_t n, uint64_t loc,
                     uint64_t *count);
/* Call targets and types at a place, added up over the nodes; targets first, then by count.
 * False when out of memory. */
PGK_MUST_USE bool pgk_sample_values(const struct pgk_sample *p, const uint32_t *nodes, size_t n,
                                    uint64_t loc, pgk_sample_recs_vec *values);

/* Samples of the lines of a function and its inlinees: what a summary adds up, and the total that
 * gcc computes. */
uint64_t pgk_sample_line_total(const struct pgk_sample *p, uint32_t node);

#endif
