/* Frees of what is no object: the rare part. */
#include "alloc_check.h"

#include "guest_sys.h"

#include <stdlib.h>

/* jemalloc's map of pages, whose size is PGAL_MAP_BYTES; 0 where there is none. */
extern const char je_arena_emap_global[] __attribute__((weak));

const u64 *const *pgal_map;
struct pgal_class pgal_classes[PGAL_CLASSES];
u64 pgal_mark;

enum { STATE_SHIFT = 2, STATES = 7 }; /* state 0: it is in use */

/* The tree's first level is the end of the map, after a pointer and a lock. */
static const u64 *const *root(void)
{
    enum { LEVEL = sizeof(void *) << PGAL_ROOT_BITS };
    return PGAL_MAP_BYTES > LEVEL && PGAL_MAP_BYTES - LEVEL <= PGG_PAGE / 8
               ? (const u64 *const *)(const void *)(je_arena_emap_global +
                                                    (PGAL_MAP_BYTES - LEVEL))
               : NULL;
}

static u32 fill_classes(void)
{
    u32 n = 0;
    for (size_t bytes = 0; bytes < PGAL_SMALL_MOST && n < PGAL_CLASSES; n++) {
        bytes = pgal_je_nallocx(bytes + 1, 0);
        pgal_classes[n] = (struct pgal_class){bytes, UINT64_MAX / bytes + 1, 0};
    }
    return n;
}

/* The map has an object of this size as it is. */
static bool knows(size_t bytes, u64 class, bool slab)
{
    char *p = pgal_je_malloc(bytes);
    const u64 word = p ? pgal_page_word(p) : 0;
    bool right = word >> 48 == class && pgal_is_slab(word) == slab && pgal_extent_of(word);
    if (right && slab)
        right = pgal_begins(word, p) && !pgal_begins(word, p + 1) &&
                (uintptr_t)p - pgal_extent_of(word)->begin < 64 * PGAL_SMALL_MOST;
    else if (right)
        right = pgal_extent_of(word)->begin == (uintptr_t)p &&
                !(word >> STATE_SHIFT & STATES);
    pgal_je_free(p);
    return right;
}

void pgal_check_init(void)
{
    struct timespec now = {0};
    const u64 *const *map = root();
    if (!map)
        return;
    const u32 classes = fill_classes();
    pgg_sys_clock(CLOCK_MONOTONIC, &now);
    pgal_mark = ((u64)now.tv_nsec ^ (u64)now.tv_sec << 32 ^ (uintptr_t)&now) *
                UINT64_C(0x9e3779b97f4a7c15);
    pgal_map = map;
    if (!knows(8, 0, true) || !knows(PGAL_SMALL_MOST, classes - 1, true) ||
        !knows(PGAL_SMALL_MOST + 1, classes, false))
        pgal_map = NULL;
}

/* As glibc ends, in its words. */
void pgal_check_failed(const char *function, const char *what)
{
    pgal_say(function, what);
    abort();
}

void pgal_check_slow(const void *p, const char *function)
{
    if (!p || !pgal_map)
        return;
    const u64 word = pgal_page_word(p);
    const struct pgal_extent *extent = pgal_extent_of(word);
    if (pgal_is_slab(word) && pgal_begins(word, p))
        pgal_check_failed(function, "double free detected");
    if (!pgal_is_slab(word) && extent && word >> STATE_SHIFT & STATES)
        pgal_check_failed(function, "double free or corruption");
    if (pgal_is_slab(word) || !extent || extent->begin != (uintptr_t)p)
        pgal_check_failed(function, "invalid pointer");
}
