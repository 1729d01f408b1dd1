/* How often control ran through a range of code, and how often it branched, without regard to
 * who called. Both are counts of pairs of addresses, so memory grows with distinct pairs. */
#ifndef PGK_COUNTERS_H
#define PGK_COUNTERS_H

#include "index.h"
#include "vec.h"

#include <stdint.h>

/* Stands for every address that is no instruction of the binary. */
#define PGK_ADDR_EXTERNAL UINT64_C(1)

struct pgk_pair {
    uint64_t from, to, count;
};

struct pgk_pairs {
    PGK_VEC(struct pgk_pair) list;
    struct pgk_index index;
};

/* Adds; sums stop at 2^64 - 1. False when out of memory. */
bool pgk_pairs_add(struct pgk_pairs *pairs, uint64_t from, uint64_t to, uint64_t count);
/* Ascending; the index is gone then, and nothing may be added. */
void pgk_pairs_sort(struct pgk_pairs *pairs);
/* Of sorted ones, position of the first with this source or a higher one. */
size_t pgk_pairs_from(const struct pgk_pairs *pairs, uint64_t from);
void pgk_pairs_free(struct pgk_pairs *pairs);

struct pgk_counters {
    struct pgk_pairs ranges;   /* first and last instruction */
    struct pgk_pairs branches; /* instruction and target; the source may be external */
};
void pgk_counters_free(struct pgk_counters *counters);

#endif
