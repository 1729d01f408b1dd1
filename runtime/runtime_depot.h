/* Calling contexts: the number of the stack of a call. */
#ifndef PGRT_DEPOT_H
#define PGRT_DEPOT_H

#include "guest_depot.h"

#pragma GCC visibility push(hidden)

enum {
    PGRT_CACHE_SHIFT = 57, /* of a hash: what is left is the set of the smallest cache */
    PGRT_CACHE_WAYS = 4,
};
/* A stack that the thread had. */
struct pgrt_cached {
    u64 hash;
    u32 context; /* 0: none */
    u32 next;    /* place of the one that the thread had after it */
};
/* Of a thread. */
struct pgrt_depot {
    /* Stacks that the thread had, by their hash, in sets of a line of the cache each. It grows with
     * how many there are. */
    struct pgrt_cached *cache;
    struct pgrt_cached *last; /* the one it had last */
    u32 cache_shift, cache_misses;
    struct pgrt_cached few[PGRT_CACHE_WAYS << (64 - PGRT_CACHE_SHIFT)] /* the first cache */
        __attribute__((aligned(PGG_LINE)));
    /* For a stack that is not known: on the stack of the thread they would be between what the
     * program and each walk have in the processor's cache. */
    u64 pcs[PGG_DEPTH_MAX];
};
struct pgrt_thread;
void pgrt_depot_init(struct pgrt_depot *d); /* of a thread that takes the record */
void pgrt_depot_forget(struct pgrt_depot *d); /* the stacks that it had: numbers stay */
/* Context of the stack whose innermost frame is the caller of the function with this frame
 * address. 0 when there are too many. */
u32 pgrt_context_here(struct pgrt_thread *t, const void *frame);

#pragma GCC visibility pop
#endif
