/* Calling contexts: the depot that gives each distinct stack a number. */
#ifndef PGRT_DEPOT_H
#define PGRT_DEPOT_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

enum {
    PGRT_CONTEXTS_MAX = 1 << 22,
    PGRT_CACHE_SHIFT = 55, /* of a hash: what is left is the entry of the smallest cache */
};
struct pgrt_context {
    u64 hash;
    const u64 *pcs; /* return addresses minus one, innermost first */
    u32 n, next;
};
/* Of a thread. */
struct pgrt_depot {
    char *bump, *bump_end; /* memory for new stacks */
    /* Stacks that the thread had, by their hash. It grows with how many there are. */
    struct pgrt_cached {
        u64 hash;
        u32 context;
    } *cache, few[1 << (64 - PGRT_CACHE_SHIFT)]; /* the first one; then cache is NULL */
    u32 cache_shift, cache_misses;
};
struct pgrt_thread;
/* Context of the stack whose innermost frame is the caller of the function with this frame
 * address. 0 when there are too many. */
u32 pgrt_context_here(struct pgrt_thread *t, const void *frame);
const struct pgrt_context *pgrt_context(u32 id);
u32 pgrt_contexts(void); /* ids below this one may be in use */

#pragma GCC visibility pop
#endif
