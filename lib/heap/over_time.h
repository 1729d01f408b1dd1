/* The heap of processes over time: the curve of one, and its peak. */
#ifndef PGK_OVER_TIME_H
#define PGK_OVER_TIME_H

#include "pgokit/heap.h"
#include "compiler.h"
#include "vec.h"

/* The bytes that a context held at a point. */
struct pgk_over_time_share {
    uint32_t point, stack; /* of `points`; of the context */
    uint64_t bytes;
};

struct pgk_over_time {
    uint64_t processes; /* that these are of; 0: nothing is known */
    /* Of the process with the highest peak: */
    uint64_t peak_ms, peak_bytes, peak_objects;
    PGK_VEC(struct pgk_heap_point) points; /* times rise */
    PGK_VEC(struct pgk_over_time_share) shares; /* by point, then stack; in a model each is there
                                                   once, and all stacks have contexts */
};

void pgk_over_time_free(struct pgk_over_time *t);
/* Adds other processes: keeps the curve of the highest peak. Commutative and associative; ties are
 * decided by all numbers that are there. `stacks` has the new number of each old stack, 0 for those
 * that are left out; NULL: the numbers stay. False when out of memory. */
PGK_MUST_USE bool pgk_over_time_merge(struct pgk_over_time *into, const struct pgk_over_time *from,
                                      const uint32_t *stacks);

#endif
