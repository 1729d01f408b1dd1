/* How the heap of processes was over time: the curve of one, and its peak. */
#ifndef PGK_OVER_TIME_H
#define PGK_OVER_TIME_H

#include "pgokit/heap.h"
#include "compiler.h"
#include "vec.h"

struct pgk_over_time {
    uint64_t processes; /* that these are of; 0: nothing is known */
    /* Of the process with the highest peak: */
    uint64_t peak_ms, peak_bytes, peak_objects;
    PGK_VEC(struct pgk_heap_point) points; /* times rise */
};

void pgk_over_time_free(struct pgk_over_time *t);
/* Adds other processes: keeps the curve of the highest peak. Commutative and associative; ties are
 * decided by all that is there. False when out of memory. */
PGK_MUST_USE bool pgk_over_time_merge(struct pgk_over_time *into, const struct pgk_over_time *from);

#endif
