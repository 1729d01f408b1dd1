/* Calling contexts: the depot that gives each distinct stack a number. */
#ifndef PGRT_DEPOT_H
#define PGRT_DEPOT_H

#include "runtime_options.h"

#pragma GCC visibility push(hidden)

enum {
    PGRT_CONTEXTS_MAX = 1 << 22,
    PGRT_CACHE_SHIFT = 57, /* of a hash: what is left is the set of the smallest cache */
    PGRT_CACHE_WAYS = 4,
};
struct pgrt_context {
    u32 frame : 31;       /* the innermost one */
    u32 cut : 1;          /* the stack has more frames */
    u32 n : 8, next : 24; /* frames */
};
_Static_assert(PGRT_DEPTH_MAX < 1 << 8 && PGRT_CONTEXTS_MAX <= 1 << 24, "they fit");
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
    u64 pcs[PGRT_DEPTH_MAX];
};
struct pgrt_thread;
void pgrt_depot_init(struct pgrt_depot *d); /* of a thread that takes the record */
void pgrt_depot_forget(struct pgrt_depot *d); /* the stacks that it had: numbers stay */
/* Context of the stack whose innermost frame is the caller of the function with this frame
 * address. 0 when there are too many. */
u32 pgrt_context_here(struct pgrt_thread *t, const void *frame);
const struct pgrt_context *pgrt_context(u32 id);
/* The first n of its code addresses: return addresses minus one, innermost first. */
void pgrt_context_pcs(const struct pgrt_context *c, u64 *pcs, u32 n);
u32 pgrt_contexts(void); /* ids below this one may be in use */

#pragma GCC visibility pop
#endif
