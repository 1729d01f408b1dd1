/* Balanced partitioning: an order of items in which items of the same groups stand close together.
 *
 * Items are halved again and again. Within a half they are exchanged as long as that makes groups
 * lie more on one side than on the other; now and then, as a generator of random numbers that
 * always starts alike says, an exchange is left out, so as not to stay with the first fair
 * solution. The numbers are those of llvm-profdata's, and so is the result. */
#ifndef PGK_BALANCED_PARTITION_H
#define PGK_BALANCED_PARTITION_H

#include "fail.h"
#include "vec.h"

#include <stddef.h>
#include <stdint.h>

struct pgk_bp_item {
    uint64_t id;                 /* not looked at */
    PGK_VEC(uint32_t) groups;    /* each once; shrinks and is renumbered meanwhile */
    uint32_t order, bucket;      /* set by the partitioning */
};

/* Puts items into their order. At most 2^31 of them. */
PGK_MUST_USE int pgk_balanced_partition(struct pgk_bp_item *items, size_t n, struct pgk_err *err);

#endif
