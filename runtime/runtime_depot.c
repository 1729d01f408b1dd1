/* Calling contexts: the depot that gives each distinct stack a number. Numbers are never taken
 * back, so they mean the same over all dumps of a process.
 * The depot only grows, by compare-and-swap, and so needs no lock. */
#include "runtime_depot.h"

#include "guest_frames.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_sys.h"
#include "runtime_options.h"
#include "runtime_thread.h"

enum { SPAN = 4096, BUCKETS = 1 << 16, BUMP_BYTES = 256 << 10 };

static struct pgrt_context *volatile spans[PGRT_CONTEXTS_MAX / SPAN];
static volatile u32 buckets[BUCKETS];
static volatile u32 used = 1; /* 0 is no context */

u32 pgrt_contexts(void)
{
    u32 n = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
    return n < PGRT_CONTEXTS_MAX ? n : PGRT_CONTEXTS_MAX;
}

const struct pgrt_context *pgrt_context(u32 id)
{
    return &__atomic_load_n(&spans[id / SPAN], __ATOMIC_ACQUIRE)[id % SPAN];
}

static void *bump(struct pgrt_depot *d, size_t bytes)
{
    if ((size_t)(d->bump_end - d->bump) < bytes) {
        d->bump = pgg_map(BUMP_BYTES);
        d->bump_end = d->bump ? d->bump + BUMP_BYTES : NULL;
        if (!d->bump)
            return NULL;
    }
    void *p = d->bump;
    d->bump += bytes;
    return p;
}

static bool have_span(u32 id)
{
    if (__atomic_load_n(&spans[id / SPAN], __ATOMIC_ACQUIRE))
        return true;
    struct pgrt_context *mine = pgg_map(SPAN * sizeof *mine), *none = NULL;
    if (!mine)
        return false;
    if (!__atomic_compare_exchange_n(&spans[id / SPAN], &none, mine, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        pgg_unmap(mine, SPAN * sizeof *mine);
    return true;
}

static u32 find(u32 from, u32 until, u64 hash, const u64 *pcs, u32 n)
{
    for (u32 id = from; id != until; id = pgrt_context(id)->next) {
        const struct pgrt_context *c = pgrt_context(id);
        if (c->hash != hash || c->n != n)
            continue;
        u32 i = 0;
        while (i < n && c->pcs[i] == pcs[i])
            i++;
        if (i == n)
            return id;
    }
    return 0;
}

/* The number of a stack that has one, or 0. */
static u32 lookup(u64 hash, const u64 *pcs, u32 n)
{
    return find(__atomic_load_n(&buckets[hash >> 48], __ATOMIC_ACQUIRE), 0, hash, pcs, n);
}

/* The number of a stack, a new one if it has none; 0 without memory. A context is filled before it
 * is put into its list, so that who walks the list without a lock finds it whole. */
static PGG_COLD u32 intern(struct pgrt_thread *t, u64 hash, const u64 *pcs, u32 n)
{
    volatile u32 *bucket = &buckets[hash >> 48];
    u32 head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE), id = find(head, 0, hash, pcs, n);
    if (id)
        return id;
    u64 *copy = bump(&t->depot, n * sizeof *copy);
    if (!copy || __atomic_load_n(&used, __ATOMIC_RELAXED) >= PGRT_CONTEXTS_MAX)
        return 0;
    id = __atomic_fetch_add(&used, 1, __ATOMIC_ACQ_REL);
    if (id >= PGRT_CONTEXTS_MAX || !have_span(id))
        return 0;
    for (u32 i = 0; i < n; i++)
        copy[i] = pcs[i];
    struct pgrt_context *c = &__atomic_load_n(&spans[id / SPAN], __ATOMIC_ACQUIRE)[id % SPAN];
    *c = (struct pgrt_context){.hash = hash, .pcs = copy, .n = n, .next = head};
    while (!__atomic_compare_exchange_n(bucket, &head, id, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
        /* Somebody else was here; perhaps with the same stack. The number is then wasted. */
        u32 theirs = find(head, c->next, hash, pcs, n);
        if (theirs)
            return theirs;
        c->next = head;
    }
    return id;
}

/* A stack that nobody had. */
static PGG_COLD u32 context_new(struct pgrt_thread *t, const void *frame,
                                struct pgg_stack_found *found, u64 *pcs)
{
    if (pgg_modules_learn(pcs, found->n)) {
        pgg_frames_forget();
        *found = pgg_walk(&t->walker, frame, pcs);
        pgg_walk_pcs(&t->walker, found, pcs);
        pgg_modules_learn(pcs, found->n);
    }
    return intern(t, found->hash, pcs, found->n);
}

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

static PGG_COLD struct pgrt_cached *remember(struct pgrt_depot *d, u64 hash, u32 id)
{
    if (PGG_UNLIKELY(++d->cache_misses > 2 * entries(d)))
        grow_cache(d);
    return put_cached(d, hash, id);
}

static __attribute__((noinline)) u32 context_walk(struct pgrt_thread *t, const void *frame)
{
    u64 pcs[PGRT_DEPTH_MAX];
    struct pgrt_depot *d = &t->depot;
    struct pgrt_cached *c = guess(d);
    pgrt_table_expect(&t->table, c->context);
    struct pgg_stack_found found = pgg_walk(&t->walker, frame, pcs);
    if (PGG_UNLIKELY(c->hash != found.hash || !c->context)) {
        c = find_cached(d, found.hash);
        if (PGG_UNLIKELY(!c)) {
            pgg_walk_pcs(&t->walker, &found, pcs);
            u32 id = lookup(found.hash, pcs, found.n);
            if (!id && !(id = context_new(t, frame, &found, pcs)))
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
