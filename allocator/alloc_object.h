/* Objects: asked for in a group, and freed by the range that their address is in. */
#ifndef PGAL_OBJECT_H
#define PGAL_OBJECT_H

#include "alloc_check.h"
#include "alloc_group.h"
#include "alloc_lookup.h"

#pragma GCC visibility push(hidden)

/* Larger objects have pages of their own anywhere, and are of group 0. */
enum { PGAL_LARGEST = 14 << 10 };

void pgal_objects_init(void);
/* An object of a group other than 0; NULL: it is too large, or no memory there. */
void *pgal_object_slow(u32 group, size_t n);
void *pgal_object_aligned(u32 group, size_t n, size_t align);
void pgal_object_free_slow(u32 group, void *p);
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

/* The bin of the objects that begin on the page of this one; 0 if they are not kept. */
PGG_INLINE uint8_t *pgal_page_of(const void *p)
{
    return &pgal_pages[((uintptr_t)p - pgal_base) / PGG_PAGE];
}

PGG_INLINE void pgal_object_free(u32 group, void *p)
{
    struct pgal_thread *t = pgal_self;
    if (PGG_LIKELY(t)) {
        /* Bin 0 keeps none. */
        struct pgal_bin *bin =
            &t->bins[group][__atomic_load_n(pgal_page_of(p), __ATOMIC_RELAXED)];
        if (PGG_LIKELY(bin->n < bin->most)) {
            bin->objects[bin->n++] = p;
            return;
        }
    }
    pgal_object_free_slow(group, p);
}

/* Of group 0. */
void *pgal_alloc_large(size_t n);
void *pgal_alloc_aligned(size_t n, size_t align);
PGG_INLINE void *pgal_alloc_anywhere(size_t n)
{
    return PGG_LIKELY(n <= PGAL_LARGEST) ? pgal_unmark(pgal_je_malloc(n)) : pgal_alloc_large(n);
}

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

/* jemalloc takes a size that it is given where the address is not that of a page; it need not look
 * into its map once more then. */
PGG_INLINE void pgal_free_anywhere(void *p)
{
    const u64 bytes = pgal_mark_free(p, "free()");
    if (PGG_LIKELY(bytes && (uintptr_t)p % PGG_PAGE))
        pgal_je_sdallocx(p, bytes, 0);
    else
        pgal_je_free(p);
}

void pgal_free_grouped(u32 group, void *p);
PGG_INLINE void pgal_free(void *p)
{
    const u32 group = pgal_group_of_object(p);
    if (PGG_LIKELY(!group))
        pgal_free_anywhere(p);
    else
        pgal_free_grouped(group, p);
}

/* An object stays where it is as long as its size class does; one that has to move anyway goes to
 * the group of the stack that asks. */
void *pgal_realloc(void *p, size_t n, u32 group);

void *pgal_calloc_large(size_t n, size_t size);
PGG_INLINE void *pgal_calloc_anywhere(size_t n, size_t size)
{
    return PGG_LIKELY(n < PGAL_LARGEST && size < PGAL_LARGEST) ? pgal_je_calloc(n, size)
                                                               : pgal_calloc_large(n, size);
}

PGG_INLINE void *pgal_calloc(size_t n, size_t size, u32 group)
{
    size_t bytes;
    if (PGG_LIKELY(!group) || __builtin_mul_overflow(n, size, &bytes))
        return pgal_calloc_anywhere(n, size);
    void *p = pgal_object(group, bytes);
    return PGG_LIKELY(p) ? __builtin_memset(p, 0, bytes) : pgal_calloc_anywhere(n, size);
}

#pragma GCC visibility pop
#endif
