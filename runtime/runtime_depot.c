/* Calling contexts: what a thread keeps of the stacks that it had, in front of the depot that all
 * share (guest_depot.h). */
#include "runtime_depot.h"

#include "guest_memory.h"
#include "guest_sys.h"
#include "runtime_options.h"
#include "runtime_thread.h"

_Static_assert(PGRT_CACHE_WAYS * sizeof(struct pgrt_cached) == PGG_LINE, "a set is a line");

/* Zeroed, or of a thread that has ended: numbers are the same for all. */
void pgrt_depot_init(struct pgrt_depot *d)
{
    if (d->cache)
        return;
    d->cache = d->last = d->few;
    d->cache_shift = PGRT_CACHE_SHIFT;
}

PGG_INLINE struct pgrt_cached *set_of(const struct pgrt_depot *d, u64 hash)
{
    return &d->cache[PGRT_CACHE_WAYS * (hash >> d->cache_shift)];
}

static u32 entries(const struct pgrt_depot *d)
{
    return PGRT_CACHE_WAYS << (64 - d->cache_shift);
}

/* Stacks mostly follow one another as they did before. */
PGG_INLINE struct pgrt_cached *guess(const struct pgrt_depot *d)
{
    return &d->cache[d->last->next];
}

/* What the next walks probably need is on its way from memory before they begin: that takes longer
 * than a walk. */
PGG_INLINE void follow(struct pgrt_thread *t, struct pgrt_cached *c)
{
    struct pgrt_depot *d = &t->depot;
    d->last->next = (u32)(c - d->cache);
    d->last = c;
    const struct pgrt_cached *next = guess(d);
    __builtin_prefetch(&d->cache[next->next]);
    __builtin_prefetch(pgrt_table_slot(&t->table, next->context));
}

static struct pgrt_cached *find_cached(const struct pgrt_depot *d, u64 hash)
{
    struct pgrt_cached *c = set_of(d, hash);
    for (u32 way = 0; way < PGRT_CACHE_WAYS; way++, c++)
        if (c->hash == hash && c->context)
            return c;
    return NULL;
}

/* In a place that is free, or in that of each in turn. */
static struct pgrt_cached *put_cached(struct pgrt_depot *d, u64 hash, u32 context)
{
    struct pgrt_cached *set = set_of(d, hash), *c = set;
    while (c < set + PGRT_CACHE_WAYS && c->context)
        c++;
    if (c == set + PGRT_CACHE_WAYS)
        c = set + d->cache_misses % PGRT_CACHE_WAYS;
    *c = (struct pgrt_cached){hash, context, c->next};
    return c;
}

/* Eight times as large, twice: what many contexts need is far more than what few ones may touch. */
static PGG_COLD void grow_cache(struct pgrt_depot *d)
{
    enum { STEP = 3, LEAST_SHIFT = PGRT_CACHE_SHIFT - 2 * STEP };
    struct pgrt_cached *before = d->cache;
    const u32 n = entries(d);
    d->cache_misses = 0;
    if (d->cache_shift == LEAST_SHIFT || pgg_confined)
        return;
    struct pgrt_cached *larger = pgg_map(sizeof *larger * n << STEP);
    if (!larger)
        return;
    d->cache = d->last = larger;
    d->cache_shift -= STEP;
    for (u32 i = 0; i < n; i++)
        if (before[i].context)
            put_cached(d, before[i].hash, before[i].context)->next = 0;
    if (before != d->few)
        pgg_unmap(before, sizeof *before * n);
}

void pgrt_depot_forget(struct pgrt_depot *d)
{
    if (!d->cache)
        return;
    if (d->cache != d->few)
        pgg_unmap(d->cache, sizeof *d->cache * entries(d));
    *d = (struct pgrt_depot){0};
    pgrt_depot_init(d);
}

static PGG_COLD struct pgrt_cached *remember(struct pgrt_depot *d, u64 hash, u32 id)
{
    if (PGG_UNLIKELY(++d->cache_misses > 2 * entries(d)))
        grow_cache(d);
    return put_cached(d, hash, id);
}

static __attribute__((noinline)) u32 context_walk(struct pgrt_thread *t, const void *frame)
{
    struct pgrt_depot *d = &t->depot;
    u64 *pcs = d->pcs;
    struct pgrt_cached *c = guess(d);
    pgrt_table_expect(&t->table, c->context);
    struct pgg_stack_found found = pgg_walk(&t->walker, frame, pcs);
    if (PGG_UNLIKELY(c->hash != found.hash || !c->context)) {
        c = find_cached(d, found.hash);
        if (PGG_UNLIKELY(!c)) {
            const u32 id = pgg_context_of_walk(&t->walker, frame, &found, pcs);
            if (!id)
                return 0;
            c = remember(d, found.hash, id);
        }
    }
    follow(t, c);
    pgg_walk_remember(found.reads, c->context);
    return c->context;
}

u32 pgrt_context_here(struct pgrt_thread *t, const void *frame)
{
    u32 known = pgg_walk_known(&t->walker, frame);
    return PGG_LIKELY(known) ? known : context_walk(t, frame);
}
