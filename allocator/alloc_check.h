/* Detects wrong frees: a second free of an object, or an address inside of one. jemalloc's own map
 * of pages gives the start of objects; a mark in the first word of a small one shows that it is
 * free. If the map has an unknown layout, nothing is checked. */
#ifndef PGAL_CHECK_H
#define PGAL_CHECK_H

#include "guest_processor.h"
#include "pgal.h"

#pragma GCC visibility push(hidden)

/* The map of jemalloc 5.3 covers addresses of 48 bits, or of 57 if jemalloc was built on a machine
 * that has them. It is a tree of two or three levels, which differ in size. A leaf describes a page
 * by a word: the class of its size above 48 bits, below the page's extent, and in its low bits
 * whether it is a slab of small objects, and its state. For 57 bits the extent has a word of its
 * own, and the class is in the other one next to the low bits. */
enum {
    PGAL_PAGE_BITS = __builtin_ctz(PGG_PAGE_MOST),
    PGAL_LEVELS = PGAL_MAP_BYTES > sizeof(void *) << (48 - PGAL_PAGE_BITS) / 2 ? 2 : 3,
    PGAL_TREE_BITS = (PGAL_LEVELS == 2 ? 48 : 57) - PGAL_PAGE_BITS,
    PGAL_ROOT_BITS = PGAL_TREE_BITS / PGAL_LEVELS,
    PGAL_MIDDLE_BITS = PGAL_LEVELS == 2 ? 0 : PGAL_ROOT_BITS + PGAL_TREE_BITS % 3 / 2,
    PGAL_LEAF_BITS = PGAL_TREE_BITS - PGAL_ROOT_BITS - PGAL_MIDDLE_BITS,
    PGAL_SMALL_MOST = PGG_PAGE_MOST / 2 * 7, /* larger ones have extents of their own */
    PGAL_CLASSES = 256,
};
struct pgal_extent {
    u64 bits;
    uintptr_t begin;
};
extern const u64 *const *pgal_map; /* NULL: nothing is checked */
/* Of small objects. As large as a bin of jemalloc's cache, so that one product is the place of
 * both. */
extern struct pgal_class {
    u64 bytes, inverse; /* 2^64 by bytes, rounded up */
    u64 unused;
} pgal_classes[PGAL_CLASSES];
extern u64 pgal_mark;

/* A class by its place: how many bytes it begins after the first one. */
PGG_INLINE const struct pgal_class *pgal_class_at(size_t place)
{
    return (const struct pgal_class *)(const void *)((const char *)pgal_classes + place);
}
PGG_INLINE size_t pgal_place(u64 word)
{
    return (word >> 48) * sizeof(struct pgal_class);
}

void pgal_check_init(void);
/* Says what is wrong and ends the process, if this is no object that jemalloc gave out. */
void pgal_check_slow(const void *p, const char *function);
PGG_COLD void pgal_check_failed(const char *function, const char *what);

PGG_INLINE size_t pgal_digit(uintptr_t page, int below, int bits)
{
    return page >> below & (((uintptr_t)1 << bits) - 1);
}

/* The word of a page, in the form for 48 bits. 0: nothing is known of the page. */
PGG_INLINE u64 pgal_page_word(const void *p)
{
    const uintptr_t page = (uintptr_t)p >> PGAL_PAGE_BITS;
    const u64 *node = pgal_map[pgal_digit(page, PGAL_LEAF_BITS + PGAL_MIDDLE_BITS,
                                          PGAL_ROOT_BITS)];
    if (PGAL_LEVELS == 3 && PGG_LIKELY(node))
        node = ((const u64 *const *)(const void *)node)[pgal_digit(page, PGAL_LEAF_BITS,
                                                                   PGAL_MIDDLE_BITS)];
    if (PGG_UNLIKELY(!node))
        return 0;
    const size_t at = pgal_digit(page, 0, PGAL_LEAF_BITS);
    if (PGAL_LEVELS == 2)
        return __atomic_load_n(&node[at], __ATOMIC_RELAXED);
    enum { LOW = 5 };
    const u64 extent = __atomic_load_n(&node[2 * at], __ATOMIC_RELAXED),
              rest = (u32)__atomic_load_n(&node[2 * at + 1], __ATOMIC_RELAXED);
    return extent | (rest & ((1 << LOW) - 1)) | rest >> LOW << 48;
}

PGG_INLINE const struct pgal_extent *pgal_extent_of(u64 word)
{
    return (const struct pgal_extent *)(word & ((UINT64_C(1) << 48) - 128));
}

PGG_INLINE bool pgal_is_slab(u64 word)
{
    return word & 1;
}

/* An object begins there. */
PGG_INLINE bool pgal_begins(u64 word, const void *p)
{
    /* A multiple of the size (Lemire, Kaser, Kurz: Faster remainder by direct computation). */
    const u64 inverse = pgal_class_at(pgal_place(word))->inverse;
    return ((uintptr_t)p - pgal_extent_of(word)->begin) * inverse < inverse;
}

/* The first word of a free object. */
PGG_INLINE u64 pgal_mark_of(const void *p)
{
    return pgal_mark ^ (uintptr_t)p;
}

/* Marks the first word of a small object that is given back. False: it is none, or an error, which
 * pgal_check_slow distinguishes, or nothing is checked. */
PGG_INLINE bool pgal_mark_free(void *p, size_t *place)
{
    if (PGG_UNLIKELY(!pgal_map))
        return false;
    const u64 word = pgal_page_word(p), mark = pgal_mark_of(p);
    *place = pgal_place(word);
    if (PGG_UNLIKELY(!pgal_is_slab(word)) || PGG_UNLIKELY(!pgal_begins(word, p)) ||
        PGG_UNLIKELY(*(u64 *)p == mark))
        return false;
    *(u64 *)p = mark;
    return true;
}

/* An object that is given out. */
PGG_INLINE void *pgal_unmark(void *p)
{
    if (PGG_LIKELY(p))
        *(u64 *)p = 0;
    return p;
}

#pragma GCC visibility pop
#endif
