/* State of a thread: free objects of groups, jemalloc's caches of them, its walks. */
#ifndef PGAL_THREAD_H
#define PGAL_THREAD_H

#include "guest_walk.h"
#include "pgal.h"

#pragma GCC visibility push(hidden)

/* Free objects of up to PGAL_KEPT_BYTES, by sixteenths of it. */
enum { PGAL_KEPT_BYTES = 1024, PGAL_BINS = PGAL_KEPT_BYTES / 16 + 1, PGAL_KEPT = 31 };
struct pgal_bin {
    u32 n, most; /* most: 0 until one is kept */
    void *objects[PGAL_KEPT]; /* the last one is used first */
};
struct pgal_thread {
    bool busy; /* it asks for its stack, or is made: what is allocated then is of group 0 */
    u32 number;
    int caches[PGAL_GROUPS]; /* of jemalloc, as flags; 0: not asked for yet */
    struct pgal_bin bins[PGAL_GROUPS][PGAL_BINS];
    struct pgg_walker walker; /* zeroed; only its stacks are used */
};
extern PGG_TLS struct pgal_thread *pgal_self;

void pgal_threads_init(void);
/* This thread's, made at its first use; NULL: it ends, or no memory. */
struct pgal_thread *pgal_thread_slow(void);
PGG_INLINE struct pgal_thread *pgal_thread(void)
{
    return PGG_LIKELY(pgal_self) ? pgal_self : pgal_thread_slow();
}

/* Flags for jemalloc: a group's arena and cache. t may be NULL. */
int pgal_group_flags_slow(struct pgal_thread *t, u32 group);
PGG_INLINE int pgal_cache_flags(const struct pgal_thread *t, u32 group)
{
    return t && t->caches[group] ? t->caches[group] : PGAL_JE_NO_CACHE;
}

#pragma GCC visibility pop
#endif
