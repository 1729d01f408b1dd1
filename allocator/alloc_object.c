/* Objects of groups. Each thread keeps a few free ones of each size, in front of jemalloc's cache
 * for the group: they cost a load and a store, and objects that were freed by this thread come
 * first. New ones come in rising addresses, as loops go over them in the order of their making. */
#include "alloc_object.h"

#include "alloc_thread.h"
#include "guest_bytes.h"
#include "guest_sys.h"

#include <errno.h>
#include <string.h>

/* Most free objects of a size that a thread keeps for a group. */
enum { KEPT_LEAST = 4, KEPT_OF_SIZE = 4096 };
uint8_t pgal_bin_of[PGAL_BINS];

void pgal_objects_init(void)
{
    for (u32 i = 0; i < PGAL_BINS; i++)
        pgal_bin_of[i] = (uint8_t)(pgal_je_nallocx(i ? i * 16 : 16, 0) / 16);
}

static u32 most_of(u32 bin)
{
    const u32 most = KEPT_OF_SIZE / (bin * 16);
    return most > PGAL_KEPT ? PGAL_KEPT : most < KEPT_LEAST ? KEPT_LEAST : most;
}

/* Allocates an object that is too large for the bins of the thread. */
static void *from_jemalloc(struct pgal_thread *t, u32 group, size_t n, int more)
{
    const int flags = pgal_group_flags_slow(t, group);
    return flags ? pgal_je_mallocx(n, flags | more) : NULL;
}

/* One to use, and half of those that may be kept. */
static void *fill(struct pgal_thread *t, u32 group, u32 number)
{
    const int flags = pgal_group_flags_slow(t, group);
    struct pgal_bin *bin = &t->bins[group][number];
    void *found[PGAL_KEPT / 2 + 1];
    u32 n = 0;
    bin->most = most_of(number);
    while (flags && n <= bin->most / 2 && (found[n] = pgal_je_mallocx(number * 16, flags)))
        n++;
    for (u32 i = n; i > 1; i--)
        bin->objects[bin->n++] = found[i - 1];
    return n ? found[0] : NULL;
}

PGG_COLD void *pgal_object_slow(u32 group, size_t n)
{
    struct pgal_thread *t = pgal_thread();
    if (pgal_stats_asked)
        pgal_groups_print();
    if (n > PGAL_LARGEST)
        return NULL;
    return t && n <= PGAL_KEPT_BYTES ? fill(t, group, pgal_bin_of[(n + 15) / 16])
                                     : from_jemalloc(t, group, n < 16 ? 16 : n, 0);
}

void *pgal_object_aligned(u32 group, size_t n, size_t align)
{
    if (n > PGAL_LARGEST || align > PGG_PAGE)
        return NULL;
    return from_jemalloc(pgal_thread(), group, n < 16 ? 16 : n, __builtin_ctzl(align));
}

/* The half that was not used for longest goes back. */
static void give_back(struct pgal_thread *t, u32 group, struct pgal_bin *bin)
{
    const int flags = pgal_cache_flags(t, group);
    const u32 back = bin->n - bin->n / 2;
    for (u32 i = 0; i < back; i++)
        pgal_je_dallocx(bin->objects[i], flags);
    bin->n -= back;
    pgg_move_fast(bin->objects, bin->objects + back, bin->n * sizeof *bin->objects);
}

PGG_COLD void pgal_object_free_slow(u32 group, void *p, size_t bytes)
{
    struct pgal_thread *t = pgal_thread();
    if (pgal_stats_asked)
        pgal_groups_print();
    if (!t || bytes > PGAL_KEPT_BYTES) {
        pgal_je_dallocx(p, pgal_cache_flags(t, group));
        return;
    }
    const u32 number = (u32)bytes / 16;
    struct pgal_bin *bin = &t->bins[group][number];
    bin->most = most_of(number);
    if (bin->n == bin->most)
        give_back(t, group, bin);
    bin->objects[bin->n++] = p;
}

static PGG_COLD void free_grouped_unmarked(u32 group, void *p)
{
    pgal_check_slow(p, "free()");
    pgal_object_free_slow(group, p, SIZE_MAX);
}

void pgal_free_grouped(u32 group, void *p)
{
    size_t place;
    if (PGG_LIKELY(pgal_mark_free(p, &place)))
        pgal_object_free(group, p, pgal_class_at(place)->bytes);
    else
        free_grouped_unmarked(group, p);
}

/* ---- of group 0 ---- */

/* The system would not give so much: jemalloc asks it for addresses only, without a promise of
 * memory, and the program ends later, when it uses them. */
static bool is_refused(size_t n)
{
    enum { ASKED = 128 << 20 };
    if (PGG_LIKELY(n < ASKED))
        return false;
    const bool refused = n > PTRDIFF_MAX || !pgg_sys_has_memory(pgg_whole_pages(n));
    if (refused)
        errno = ENOMEM;
    return refused;
}

void *pgal_alloc_uncached(size_t n)
{
    void *p = is_refused(n) ? NULL : pgal_je_malloc(n);
    return n <= PGAL_SMALL_MOST ? pgal_unmark(p) : p;
}

void *pgal_alloc_anywhere(size_t n)
{
    return pgal_alloc_fast(n);
}

void *pgal_alloc_aligned(size_t n, size_t align)
{
    void *p = is_refused(n) ? NULL : pgal_je_mallocx(n ? n : 1, __builtin_ctzl(align));
    return n <= PGAL_SMALL_MOST ? pgal_unmark(p) : p;
}

void *pgal_calloc_large(size_t n, size_t size)
{
    size_t bytes;
    if (!__builtin_mul_overflow(n, size, &bytes) && is_refused(bytes))
        return NULL;
    return pgal_je_calloc(n, size);
}

void pgal_free_unmarked(void *p)
{
    pgal_check_slow(p, "free()");
    pgal_je_free(p);
}

static void *realloc_large(void *p, size_t n)
{
    return is_refused(n) ? NULL : pgal_je_realloc(p, n);
}

/* ---- of all ---- */

void pgal_free(void *p)
{
    pgal_free_fast(p);
}

/* Also what is moved within group 0 is copied here, so that the old object is marked. */
void *pgal_realloc(void *p, size_t n, u32 group)
{
    const u32 to_group = n <= PGAL_LARGEST ? group : 0;
    const u64 word = p && pgal_map ? pgal_page_word(p) : 0;
    if (!p)
        return pgal_alloc_in(to_group, n, 0);
    if (pgal_map && (!pgal_is_slab(word) || !pgal_begins(word, p) ||
                     *(u64 *)p == pgal_mark_of(p)))
        pgal_check_slow(p, "realloc()");
    /* If nothing is known of the page, nothing is marked, neither here nor there. */
    const bool marked = pgal_is_slab(word) || (word && n <= PGAL_SMALL_MOST);
    if (!marked && !to_group && !pgal_group_of_object(p))
        return realloc_large(p, n);
    if (!n) {
        pgal_free(p);
        return NULL;
    }
    const size_t old = pgal_is_slab(word) ? pgal_classes[word >> 48].bytes : pgal_je_sallocx(p, 0);
    if (pgal_je_nallocx(n < 16 && pgal_group_of_object(p) ? 16 : n, 0) == old)
        return p;
    void *to = pgal_alloc_in(to_group, n, 0);
    if (to) {
        memcpy(to, p, old < n ? old : n);
        pgal_free(p);
    }
    return to;
}
