/* Objects: asked for in a group, and freed by the range that their address is in. */
#ifndef PGAL_OBJECT_H
#define PGAL_OBJECT_H

#include "alloc_cache.h"
#include "alloc_group.h"
#include "alloc_lookup.h"

#pragma GCC visibility push(hidden)

/* Larger objects have pages of their own anywhere, and are of group 0. */
enum { PGAL_LARGEST = 14 << 10 };

void pgal_objects_init(void);
/* An object of a group other than 0; NULL: it is too large, or no memory there. */
void *pgal_object_slow(u32 group, size_t n);
void *pgal_object_aligned(u32 group, size_t n, size_t align);
void pgal_object_free_slow(u32 group, void *p, size_t bytes);
extern uint8_t pgal_bin_of[PGAL_BINS]; /* by sixteenths of the size, rounded up */

PGG_INLINE void *pgal_object(u32 group, size_t n)
{
    struct pgal_thread *t = pgal_self;
    if (PGG_LIKELY(t && n <= PGAL_KEPT_BYTES)) {
        struct pgal_bin *bin = &t->bins[group][pgal_bin_of[(n + 15) / 16]];
        if (PGG_LIKELY(bin->n))
            return bin->objects[--bin->n];
    }
    return pgal_object_slow(group, n);
}

/* Of a class of so many bytes. */
PGG_INLINE void pgal_object_free(u32 group, void *p, size_t bytes)
{
    struct pgal_thread *t = pgal_self;
    if (PGG_LIKELY(t && bytes <= PGAL_KEPT_BYTES)) {
        struct pgal_bin *bin = &t->bins[group][bytes / 16];
        if (PGG_LIKELY(bin->n < bin->most)) {
            bin->objects[bin->n++] = p;
            return;
        }
    }
    pgal_object_free_slow(group, p, bytes);
}

/* Of group 0. */
void *pgal_alloc_uncached(size_t n);
void *pgal_alloc_aligned(size_t n, size_t align);
PGG_INLINE void *pgal_alloc_fast(size_t n)
{
    u64 *p = PGG_LIKELY(n < pgal_cached_end)
                 ? pgal_cache_take(pgal_cache(), pgal_place_of[(n + 7) / 8])
                 : NULL;
    if (PGG_UNLIKELY(!p))
        return pgal_alloc_uncached(n);
    *p = 0;
    return p;
}
void *pgal_alloc_anywhere(size_t n);

/* align: a power of two, or 0. */
PGG_INLINE void *pgal_alloc_in(u32 group, size_t n, size_t align)
{
    if (PGG_UNLIKELY(group)) {
        void *p = align > 16 ? pgal_object_aligned(group, n, align) : pgal_object(group, n);
        if (PGG_LIKELY(p))
            return pgal_unmark(p);
    }
    return align > 8 ? pgal_alloc_aligned(n, align) : pgal_alloc_anywhere(n);
}

PGG_INLINE void *pgal_alloc(size_t n, size_t align, const void *frame)
{
    return pgal_alloc_in(pgal_group_of_stack(frame), n, align);
}

void pgal_free_unmarked(void *p);
void pgal_free_grouped(u32 group, void *p);
PGG_INLINE void pgal_free_fast(void *p)
{
    const u32 group = pgal_group_of_object(p);
    size_t place;
    if (PGG_UNLIKELY(group))
        pgal_free_grouped(group, p);
    else if (PGG_UNLIKELY(!pgal_mark_free(p, &place)))
        pgal_free_unmarked(p);
    else if (PGG_UNLIKELY(!pgal_cache_put(pgal_cache(), place, p)))
        pgal_je_free(p);
}
void pgal_free(void *p);

/* An object stays where it is as long as its size class does; one that has to move anyway goes to
 * the group of the stack that asks. */
void *pgal_realloc(void *p, size_t n, u32 group);

/* The mark goes from objects of less than a word, too. */
PGG_INLINE void *pgal_zeroed(void *p, size_t bytes)
{
    return PGG_LIKELY(p) ? __builtin_memset(pgal_unmark(p), 0, bytes) : NULL;
}
void *pgal_calloc_large(size_t n, size_t size);
PGG_INLINE void *pgal_calloc_anywhere(size_t n, size_t size)
{
    if (PGG_UNLIKELY(n > PGAL_CACHED_MOST) || PGG_UNLIKELY(size > PGAL_CACHED_MOST) ||
        PGG_UNLIKELY(n * size > PGAL_CACHED_MOST))
        return pgal_calloc_large(n, size);
    return pgal_zeroed(pgal_alloc_anywhere(n * size), n * size);
}

PGG_INLINE void *pgal_calloc(size_t n, size_t size, u32 group)
{
    size_t bytes;
    if (PGG_LIKELY(!group) || __builtin_mul_overflow(n, size, &bytes))
        return pgal_calloc_anywhere(n, size);
    void *p = pgal_object(group, bytes);
    return PGG_LIKELY(p) ? pgal_zeroed(p, bytes) : pgal_calloc_anywhere(n, size);
}

#pragma GCC visibility pop
#endif
