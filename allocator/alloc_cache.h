/* jemalloc's cache of a thread: free objects by their class. What malloc and free mostly do, in the
 * steps of jemalloc's own, but with one look into the map of pages for all that is asked of it. All
 * else (a bin that is empty or full, work that is due after so many bytes) is left to jemalloc,
 * which finds the cache as if it had done these steps. */
#ifndef PGAL_CACHE_H
#define PGAL_CACHE_H

#include "alloc_check.h"

#pragma GCC visibility push(hidden)

/* That of jemalloc 5.3. */
struct pgal_cache {
    u64 allocated, allocated_until; /* bytes so far; at so many, something else is due */
    u64 freed, freed_until;
    void *rest;
    struct pgal_cached {
        void **first; /* of the free objects; they end at a higher address */
        u64 requests;
        uint16_t fewest, full, empty; /* low bits of `first` */
    } bins[];
};
_Static_assert(sizeof(struct pgal_cached) == sizeof(struct pgal_class), "they share a product");
/* From the thread's own pointer; until the cache is known to be as above, of one in which something
 * is always due. */
extern ptrdiff_t pgal_cache_off;
/* Objects of this size and more are not looked for there; 0 until the cache is known. */
enum { PGAL_CACHED_MOST = 4096 };
extern size_t pgal_cached_end;
/* By eighths of the size, rounded up: places of classes. */
extern uint16_t pgal_place_of[PGAL_CACHED_MOST / 8 + 1];

/* After pgal_check_init. */
void pgal_cache_init(void);

PGG_INLINE struct pgal_cache *pgal_cache(void)
{
    return (struct pgal_cache *)(void *)(pgg_thread_pointer() + pgal_cache_off);
}

PGG_INLINE struct pgal_cached *pgal_bin_at(struct pgal_cache *cache, size_t place)
{
    return (struct pgal_cached *)(void *)((char *)cache->bins + place);
}

/* An object of the class at this place. NULL: jemalloc has to be asked. */
PGG_INLINE void *pgal_cache_take(struct pgal_cache *cache, size_t place)
{
    const u64 allocated = cache->allocated + pgal_class_at(place)->bytes;
    if (PGG_UNLIKELY(allocated >= cache->allocated_until))
        return NULL;
    struct pgal_cached *bin = pgal_bin_at(cache, place);
    void **first = bin->first;
    const uint16_t left = (uint16_t)(uintptr_t)first;
    if (PGG_UNLIKELY(left == bin->fewest)) {
        if (left == bin->empty)
            return NULL;
        bin->fewest = (uint16_t)(uintptr_t)(first + 1);
    }
    void *p = *first;
    bin->first = first + 1;
    cache->allocated = allocated;
    if (!p)
        __builtin_unreachable(); /* so that callers need not look at it again */
    return p;
}

/* False: jemalloc has to do it. */
PGG_INLINE bool pgal_cache_put(struct pgal_cache *cache, size_t place, void *p)
{
    const u64 freed = cache->freed + pgal_class_at(place)->bytes;
    if (PGG_UNLIKELY(freed >= cache->freed_until))
        return false;
    struct pgal_cached *bin = pgal_bin_at(cache, place);
    void **first = bin->first;
    if (PGG_UNLIKELY((uint16_t)(uintptr_t)first == bin->full))
        return false;
    *--first = p;
    bin->first = first;
    cache->freed = freed;
    return true;
}

#pragma GCC visibility pop
#endif
