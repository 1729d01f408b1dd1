/* Objects: asked for in a group, and freed by the range that their address is in. */
#ifndef PGAL_OBJECT_H
#define PGAL_OBJECT_H

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
void *pgal_object_move(void *p, u32 group, size_t n);
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

/* align: a power of two, or 0. */
PGG_INLINE void *pgal_alloc_in(u32 group, size_t n, size_t align)
{
    if (PGG_UNLIKELY(group)) {
        void *p = align > 16 ? pgal_object_aligned(group, n, align) : pgal_object(group, n);
        if (PGG_LIKELY(p))
            return p;
    }
    /* jemalloc aligns objects of less than 16 bytes to 8. */
    return align > 8 ? pgal_je_mallocx(n ? n : 1, __builtin_ctzl(align)) : pgal_je_malloc(n);
}

PGG_INLINE void *pgal_alloc(size_t n, size_t align, const void *frame)
{
    return pgal_alloc_in(pgal_group_of_stack(frame), n, align);
}

PGG_INLINE void pgal_free(void *p)
{
    const u32 group = pgal_group_of_object(p);
    if (PGG_LIKELY(!group))
        pgal_je_free(p);
    else
        pgal_object_free(group, p);
}

PGG_INLINE void *pgal_realloc(void *p, size_t n, u32 group)
{
    const bool small = n <= PGAL_LARGEST;
    if (PGG_LIKELY(!((group && small) || pgal_group_of_object(p))))
        return pgal_je_realloc(p, n);
    return pgal_object_move(p, small ? group : 0, n);
}

PGG_INLINE void *pgal_calloc(size_t n, size_t size, u32 group)
{
    size_t bytes;
    if (PGG_LIKELY(!group) || __builtin_mul_overflow(n, size, &bytes))
        return pgal_je_calloc(n, size);
    void *p = pgal_object(group, bytes);
    return PGG_LIKELY(p) ? __builtin_memset(p, 0, bytes) : pgal_je_calloc(n, size);
}

#pragma GCC visibility pop
#endif
