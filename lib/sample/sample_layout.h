/* Making a profile out of another one. */
#ifndef PGK_SAMPLE_LAYOUT_H
#define PGK_SAMPLE_LAYOUT_H

#include "sample_merge.h"

/* Fills an empty profile from a finished one. */
typedef int pgk_sample_make_fn(void *ctx, struct pgk_sample *into, const struct pgk_sample *from,
                               struct pgk_err *err);
/* Puts what `make` made in the place of the profile, which stays as it was on failure. */
PGK_MUST_USE int pgk_sample_replace(struct pgk_sample **profile, pgk_sample_make_fn *make,
                                    void *ctx, struct pgk_err *err);

/* How often a function or inlinee was entered, by its first line; at least once if it has samples.
 * For a finished profile. */
uint64_t pgk_sample_entries(const struct pgk_sample *p, uint32_t node);

#endif
