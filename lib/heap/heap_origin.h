/* The processes that a heap profile is of: how they ended, and how they were recorded. */
#ifndef PGK_HEAP_ORIGIN_H
#define PGK_HEAP_ORIGIN_H

#include <stdint.h>

/* The fields of records/heap_origin.def, which says what they mean. They are repeated here so that
 * users of the heap model need not include that list. All zeros: unknown. */
struct pgk_heap_origin {
    uint64_t processes, others;
    uint64_t interrupted, library_accesses, one_thread; /* processes */
    uint64_t dumps, alive, own_ns, own_bytes;
    uint64_t sampled, counted; /* processes */
    uint64_t made_bytes, made_objects, drawn_bytes, drawn_objects, sample_bytes, visit_accesses;
};

/* Adds other processes; commutative and associative. */
void pgk_heap_origin_merge(struct pgk_heap_origin *into, const struct pgk_heap_origin *from);
/* As if the same processes had been merged so many times. */
void pgk_heap_origin_scale(struct pgk_heap_origin *o, uint64_t times);

#endif
