/* Groups: their ranges of addresses and their arenas. */
#include "alloc_group.h"

#include "alloc_plan.h"
#include "guest_sys.h"
#include "guest_text.h"

#include <sys/mman.h>

uintptr_t pgal_base, pgal_span;
u32 pgal_shift;
volatile bool pgal_stats_asked;

/* Most addresses of a group; fewer if the limit of addresses (ulimit -v) is low. */
enum { SHIFT_MOST = 36, SHIFT_LEAST = 30 };
/* So many threads of a group do not wait for one another where jemalloc fills their caches. */
enum { ARENAS_OF_GROUP = 4 };
/* Groups begin at equal distances, and their first pages, where the oldest objects are, must not
 * look alike: processors predict the way of a cache by some bits of an address (AMD's by 12 to 27),
 * and choose the set of a TLB by the lowest of its page. The extents of a group begin by so many
 * pages later in its range than those of the group before. */
enum { STAGGER = 17 };

/* Objects that come and go together leave large empty extents, which jemalloc would not cut small
 * ones from: a group would grow with each burst until its pages decay. */
extern const char *pgal_je_malloc_conf;
const char *pgal_je_malloc_conf = "lg_extent_max_active_fit:14";

/* As jemalloc's manual has it under "extent_hooks". Those that are NULL are refused. */
struct hooks {
    void *(*alloc)(struct hooks *, void *, size_t, size_t, bool *, bool *, unsigned);
    bool (*dalloc)(struct hooks *, void *, size_t, bool, unsigned);
    void (*destroy)(struct hooks *, void *, size_t, bool, unsigned);
    bool (*commit)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*decommit)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*purge_lazy)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*purge_forced)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*split)(struct hooks *, void *, size_t, size_t, size_t, bool, unsigned);
    bool (*merge)(struct hooks *, void *, size_t, void *, size_t, bool, unsigned);
};

static struct group {
    struct hooks hooks;
    uintptr_t next;              /* later addresses were never given out */
    u32 arenas[ARENAS_OF_GROUP]; /* as jemalloc numbers them, plus one; 0: not made yet */
    struct span {
        void *at;
        size_t bytes;
    } last[ARENAS_OF_GROUP]; /* the piece that an arena asked for last */
    bool cold, hot;
    bool advised; /* that its range is for huge pages */
} groups[PGAL_GROUPS];

static bool pages_out;
static enum pgal_huge huge;

static volatile u32 making;
static enum { NOT_ASKED, READY, NO_SPACE } state;

/* An arena fills a piece before it asks for the next one, under a lock of its own. What it has
 * filled with cold objects can go. */
static void page_out_last(struct group *g, unsigned arena, void *at, size_t bytes)
{
    for (u32 i = 0; i < ARENAS_OF_GROUP; i++) {
        if (__atomic_load_n(&g->arenas[i], __ATOMIC_ACQUIRE) != arena + 1)
            continue;
        if (g->last[i].bytes)
            pgg_sys_advise(g->last[i].at, g->last[i].bytes, MADV_PAGEOUT);
        g->last[i] = (struct span){at, bytes};
    }
}

/* The next piece of the group's range. */
static void *piece(struct hooks *hooks, void *wanted, size_t bytes, size_t align, bool *zero,
                   bool *commit, unsigned arena)
{
    struct group *g = (struct group *)(void *)hooks;
    const uintptr_t number = (uintptr_t)(g - groups);
    const uintptr_t end = pgal_base + ((number + 1) << pgal_shift);
    /* jemalloc's data of an arena, in front of its extents, is aligned to 2 MiB. */
    const uintptr_t gap = align > PGG_PAGE ? number * STAGGER * PGG_PAGE : 0;
    uintptr_t next = __atomic_load_n(&g->next, __ATOMIC_RELAXED), at;
    do {
        at = (next + align - 1) & ~(uintptr_t)(align - 1);
        if ((wanted && (uintptr_t)wanted != at) || at > end || bytes > end - at ||
            gap > end - at - bytes)
            return NULL;
    } while (!__atomic_compare_exchange_n(&g->next, &next, at + bytes + gap, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if (pages_out && g->cold && !gap)
        page_out_last(g, arena, (void *)at, bytes);
    *zero = *commit = true;
    return (void *)at;
}

static bool keep(struct hooks *hooks, void *at, size_t bytes, bool committed, unsigned arena)
{
    (void)hooks;
    (void)at;
    (void)bytes;
    (void)committed;
    (void)arena;
    return true;
}

static bool purge(struct hooks *hooks, void *at, size_t bytes, size_t off, size_t length,
                  unsigned arena)
{
    (void)hooks;
    (void)bytes;
    (void)arena;
    return pgg_sys_advise((char *)at + off, length, MADV_DONTNEED) < 0;
}

static bool split(struct hooks *hooks, void *at, size_t bytes, size_t a, size_t b, bool committed,
                  unsigned arena)
{
    (void)a;
    (void)b;
    return !keep(hooks, at, bytes, committed, arena);
}

static bool merge(struct hooks *hooks, void *a, size_t a_bytes, void *b, size_t b_bytes,
                  bool committed, unsigned arena)
{
    (void)b;
    (void)b_bytes;
    return !keep(hooks, a, a_bytes, committed, arena);
}

static const struct hooks all_hooks = {
    .alloc = piece,
    .dalloc = keep,
    .purge_forced = purge,
    .split = split,
    .merge = merge,
};

static void reserve(void)
{
    long at = -1;
    u32 shift = SHIFT_MOST + 2;
    /* With a group's range in front, so that each begins at a multiple of 2 MiB. */
    while (at < 0 && (shift -= 2) >= SHIFT_LEAST)
        at = pgg_sys_pages((size_t)(PGAL_GROUPS + 1) << shift);
    if (at < 0) {
        state = NO_SPACE;
        return;
    }
    const uintptr_t bytes = (uintptr_t)1 << shift;
    pgal_shift = shift;
    const uintptr_t base = ((uintptr_t)at + bytes - 1) & ~(bytes - 1);
    for (u32 i = 0; i < PGAL_GROUPS; i++) {
        groups[i].hooks = all_hooks;
        groups[i].next = base + i * bytes;
    }
    pgal_base = base;
    __atomic_store_n(&pgal_span, PGAL_GROUPS * bytes, __ATOMIC_RELEASE);
    state = READY;
}

bool pgal_groups_ready(void)
{
    if (PGG_UNLIKELY(__atomic_load_n(&state, __ATOMIC_ACQUIRE) == NOT_ASKED)) {
        pgg_lock(&making);
        if (state == NOT_ASKED)
            reserve();
        pgg_unlock(&making);
    }
    return state == READY;
}

/* The whole range: the kernel finds more adjacent pages in it than in a piece. Without huge pages,
 * nothing changes. */
static void advise_huge(struct group *g)
{
    const uintptr_t bytes = (uintptr_t)1 << pgal_shift,
                    at = pgal_base + (uintptr_t)(g - groups) * bytes;
    if (g->advised || huge == PGAL_HUGE_NONE || !(huge == PGAL_HUGE_ALL ? !g->cold : g->hot))
        return;
    pgg_sys_advise((void *)at, bytes, MADV_HUGEPAGE);
    g->advised = true;
}

static PGG_COLD u32 make_arena(struct group *g, u32 *arena)
{
    unsigned number;
    size_t size = sizeof number;
    struct hooks *hooks = &g->hooks;
    pgg_lock(&making);
    advise_huge(g);
    if (!*arena && !pgal_je_mallctl("arenas.create", &number, &size, &hooks, sizeof hooks))
        __atomic_store_n(arena, number + 1, __ATOMIC_RELEASE);
    pgg_unlock(&making);
    return *arena ? *arena - 1 : 0;
}

u32 pgal_group_arena(u32 group, u32 thread)
{
    u32 *arena = &groups[group].arenas[thread % ARENAS_OF_GROUP];
    const u32 made = __atomic_load_n(arena, __ATOMIC_ACQUIRE);
    return PGG_LIKELY(made) ? made - 1 : make_arena(&groups[group], arena);
}

void pgal_groups_page_out(void)
{
    pages_out = groups[PGAL_COLD].cold = true;
}

void pgal_groups_huge(enum pgal_huge which)
{
    groups[PGAL_COLD].cold = groups[PGAL_HOT].hot = true;
    huge = which;
}

void pgal_group_is_hot(u32 group)
{
    groups[group].hot = true;
}

void pgal_group_is_cold(u32 group)
{
    groups[group].cold = true;
}

void pgal_groups_after_fork(void)
{
    making = 0;
}

void pgal_groups_purge(void)
{
    pgal_je_mallctl("arena.4096.purge", NULL, NULL, NULL, 0); /* of all arenas */
}

/* ---- what is in them ---- */

static u64 statistic(u32 arena, const char *what)
{
    char name[80];
    struct pgg_text t;
    size_t value = 0, size = sizeof value;
    pgg_text_init(&t, name, sizeof name);
    pgg_text_str(&t, "stats.arenas.");
    pgg_text_u64(&t, arena);
    pgg_text_str(&t, what);
    return pgal_je_mallctl(name, &value, &size, NULL, 0) ? 0 : value;
}

static void print_group(u32 number, const struct group *g)
{
    u64 objects = 0, pages = 0, unused = 0;
    size_t page = PGG_PAGE, size = sizeof page;
    char line[240];
    struct pgg_text t;
    pgal_je_mallctl("arenas.page", &page, &size, NULL, 0);
    for (u32 i = 0; i < ARENAS_OF_GROUP; i++)
        if (g->arenas[i]) {
            const u32 arena = g->arenas[i] - 1;
            objects += statistic(arena, ".small.allocated") + statistic(arena, ".large.allocated");
            pages += statistic(arena, ".pactive") * page;
            unused += statistic(arena, ".pdirty") * page;
        }
    pgg_text_init(&t, line, sizeof line);
    pgg_text_u64(&t, objects);
    pgg_text_str(&t, " bytes of objects in ");
    pgg_text_u64(&t, pages);
    pgg_text_str(&t, " bytes of pages (");
    pgg_text_u64(&t, pages ? objects * 100 / pages : 100);
    pgg_text_str(&t, " %), ");
    pgg_text_u64(&t, unused);
    pgg_text_str(&t, " bytes of empty pages");
    if (pgal_planned_bytes(number)) {
        pgg_text_str(&t, "; the profile had ");
        pgg_text_u64(&t, pgal_planned_bytes(number));
        pgg_text_str(&t, " bytes of objects at its peak");
    }
    char name[24];
    pgg_text_init(&t, name, sizeof name);
    pgg_text_str(&t, number == PGAL_COLD ? "cold" : number == PGAL_HOT ? "hot" : "group ");
    if (number < PGAL_COLD)
        pgg_text_u64(&t, number);
    pgal_say(name, line);
}

void pgal_groups_print(void)
{
    u64 epoch = 1;
    pgal_stats_asked = false;
    pgal_je_mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    for (u32 i = 1; i < PGAL_GROUPS; i++)
        for (u32 k = 0; k < ARENAS_OF_GROUP; k++)
            if (groups[i].arenas[k]) {
                print_group(i, &groups[i]);
                break;
            }
}
