/* The processes that a heap profile is of: how they ended, and how they were recorded. */
#ifndef PGK_HEAP_ORIGIN_H
#define PGK_HEAP_ORIGIN_H

#include <stdint.h>

/* All zeros: nothing is told. */
struct pgk_heap_origin {
#define PGK_ORIGIN(name, rule, meaning) uint64_t name;
#include "heap_origin.def"
#undef PGK_ORIGIN
};

/* Adds other processes; commutative and associative. */
void pgk_heap_origin_merge(struct pgk_heap_origin *into, const struct pgk_heap_origin *from);
/* As if the same processes had been merged so many times. */
void pgk_heap_origin_scale(struct pgk_heap_origin *o, uint64_t times);

#endif
