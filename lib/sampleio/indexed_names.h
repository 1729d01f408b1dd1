/* The names of a file in spans, each in Eytzinger order of GUIDs: what a function has a profile of
 * its own comes first, so that its offset stands at the same place of another array.
 * docs/formats/sample-binary.md "Indexed tables" */
#ifndef PGK_INDEXED_NAMES_H
#define PGK_INDEXED_NAMES_H

#include "sample_format.h"
#include "used_names.h"

struct pgk_indexed_names {
    PGK_VEC(uint64_t) guids;  /* as in the file */
    uint64_t span[PGK_SPANS]; /* how many of them are in each */
};

/* Orders the names of the first `n` tops by heat, and sets `used->index_of` to their places. With
 * `split`, tops without inlinees are a span of their own. False when out of memory. */
bool pgk_index_names(struct pgk_indexed_names *names, struct pgk_used_names *used,
                     const struct pgk_sample *p, size_t n, bool split);
void pgk_indexed_names_free(struct pgk_indexed_names *names);

/* `n` numbers that rise, each once, in Eytzinger order at `to`. */
void pgk_eytzinger_put(uint64_t *to, const uint64_t *rising, size_t n);

#endif
