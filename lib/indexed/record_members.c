/* Members of function records, in the order of the file. Everything is gone through twice in that
 * order, first to count and then to fill in, so that nothing is sorted; threads do shares of it. */
#include "record_members.h"

#include "pool.h"
#include "search.h"
#include "u64_set.h"

#include <assert.h>
#include <stdlib.h>

/* A context in the record of a function that is not in its inline chain. */
struct extra {
    uint32_t rank, func;
};

/* The members that a share of the ranks puts into records; the last share is that of the calls. */
struct share {
    uint32_t *last; /* by record: key of the last member + 1 */
    uint32_t *n;    /* by record: members; later where the next one goes */
    PGK_VEC(uint32_t) chain; /* functions */
};

enum { RANK_SHARES = 16, SHARES };

struct maker {
    struct pgk_record_members *m;
    const struct pgk_heap *h;
    const struct pgk_radix_stacks *radix;
    uint32_t *record_of;  /* by function */
    const bool *owned;
    struct share shares[SHARES];
    PGK_VEC(struct extra) extras;  /* by rank */
    PGK_VEC(uint32_t) calls;       /* sites, by rank */
};

/* Records by GUID: the functions of one GUID share one. */
static bool number_records(struct maker *k)
{
    struct pgk_record_members *m = k->m;
    size_t n = k->h->funcs.n;
    k->record_of = pgk_mem_alloc(n + 1, sizeof *k->record_of);
    if (!k->record_of || !pgk_vec_reserve(&m->guids, n + 1))
        return false;
    for (size_t i = 0; i < n; i++)
        m->guids.v[i] = k->h->funcs.v[i].guid;
    m->guids.n = pgk_u64_set(m->guids.v, n);
    for (size_t i = 0; i < n; i++)
        k->record_of[i] = (uint32_t)pgk_u64_find(m->guids.v, m->guids.n, k->h->funcs.v[i].guid);
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const struct extra *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_site_rank(const void *a, const void *b, void *ctx)
{
    const struct maker *k = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b,
             x = pgk_radix_rank(k->radix, k->h->sites.v[i].stack),
             y = pgk_radix_rank(k->radix, k->h->sites.v[j].stack);
    if (x != y)
        return x < y ? -1 : 1;
    return i < j ? -1 : i > j;
}

static bool order_sites(struct maker *k)
{
    const struct pgk_heap *h = k->h;
    for (uint32_t i = 0; i < h->sites.n; i++) {
        const struct pgk_heap_site *s = &h->sites.v[i];
        uint32_t rank = pgk_radix_rank(k->radix, s->stack);
        if (s->kind == PGK_SITE_CALL ? !pgk_vec_push(&k->calls, i)
                                     : !pgk_vec_push(&k->extras, (struct extra){rank, s->func}))
            return false;
    }
    if (k->calls.n)
        qsort_r(k->calls.v, k->calls.n, sizeof *k->calls.v, by_site_rank, k);
    if (k->extras.n)
        qsort(k->extras.v, k->extras.n, sizeof *k->extras.v, by_rank);
    return true;
}

/* Two functions of one GUID may own one thing; it stands in their record once. */
static void put(const struct maker *k, struct share *s, uint32_t func, uint32_t key, uint32_t ref)
{
    assert(func < k->h->funcs.n && k->record_of[func] < k->m->guids.n);
    uint32_t record = k->record_of[func];
    if (s->last[record] == key + 1)
        return;
    s->last[record] = key + 1;
    if (k->m->refs)
        k->m->refs[s->n[record]] = ref;
    s->n[record]++;
}

static bool put_chain(const struct maker *k, struct share *s, uint32_t rank)
{
    uint32_t stack = k->radix->stacks[rank];
    size_t n = pgk_heap_chain(k->h, stack, s->chain.v, s->chain.cap);
    if (n > s->chain.cap) {
        /* Functions past the first ones may have been counted twice: n is an upper bound. */
        if (!pgk_vec_reserve(&s->chain, n))
            return false;
        n = pgk_heap_chain(k->h, stack, s->chain.v, s->chain.cap);
    }
    for (size_t i = 0; i < n; i++)
        put(k, s, s->chain.v[i], rank, rank);
    return true;
}

static bool put_ranks(const struct maker *k, struct share *s, uint32_t first, uint32_t end)
{
    enum { AHEAD = 12 };
    PGK_SEARCH(extra, k->extras.n, mid, k->extras.v[mid].rank < first)
    for (uint32_t rank = first; rank < end; rank++) {
        if (rank + AHEAD < end)
            pgk_heap_prefetch_leaf(k->h, k->radix->stacks[rank + AHEAD]);
        if (k->owned[rank] && !put_chain(k, s, rank))
            return false;
        for (; extra < k->extras.n && k->extras.v[extra].rank == rank; extra++)
            put(k, s, k->extras.v[extra].func, rank, rank);
    }
    return true;
}

static void put_calls(const struct maker *k, struct share *s)
{
    for (size_t i = 0; i < k->calls.n; i++) {
        const struct pgk_heap_site *site = &k->h->sites.v[k->calls.v[i]];
        put(k, s, site->func, pgk_radix_rank(k->radix, site->stack),
            PGK_MEMBER_SITE | k->calls.v[i]);
    }
}

static int put_share(void *ctx, size_t share, unsigned worker)
{
    struct maker *k = ctx;
    struct share *s = &k->shares[share];
    const uint64_t n = k->radix->n_stacks;
    (void)worker;
    if (!k->m->refs) {
        size_t records = k->m->guids.n;
        s->n = pgk_mem_zalloc(records + 1, sizeof *s->n);
        s->last = pgk_mem_alloc(records + 1, sizeof *s->last);
        if (!s->n || !s->last || !pgk_vec_reserve(&s->chain, 1))
            return PGK_E_NOMEM;
    }
    memset(s->last, 0, k->m->guids.n * sizeof *s->last);
    if (share == RANK_SHARES)
        put_calls(k, s);
    else if (!put_ranks(k, s, (uint32_t)(n * share / RANK_SHARES),
                        (uint32_t)(n * (share + 1) / RANK_SHARES)))
        return PGK_E_NOMEM;
    return 0;
}

/* The first members of records, and in them those of shares. */
static void place(struct maker *k)
{
    uint32_t at = 0;
    for (size_t i = 0; i < k->m->guids.n; i++) {
        k->m->first[i] = at;
        for (size_t s = 0; s < SHARES; s++) {
            uint32_t n = k->shares[s].n[i];
            k->shares[s].n[i] = at;
            at += n;
        }
    }
    k->m->first[k->m->guids.n] = at;
}

static bool make(struct maker *k, unsigned threads)
{
    struct pgk_record_members *m = k->m;
    if (!number_records(k) || !order_sites(k))
        return false;
    m->first = pgk_mem_zalloc(m->guids.n + 1, sizeof *m->first);
    if (!m->first || pgk_pool_run(threads, SHARES, put_share, k))
        return false;
    place(k);
    m->refs = pgk_mem_alloc((size_t)m->first[m->guids.n] + 1, sizeof *m->refs);
    return m->refs && !pgk_pool_run(threads, SHARES, put_share, k);
}

int pgk_record_members_make(struct pgk_record_members *m, const struct pgk_heap *h,
                            const struct pgk_radix_stacks *radix, const bool *owned,
                            unsigned threads, struct pgk_err *err)
{
    struct maker k = {.m = m, .h = h, .radix = radix, .owned = owned};
    *m = (struct pgk_record_members){0};
    bool ok = make(&k, threads);
    pgk_mem_free(k.record_of);
    for (size_t i = 0; i < SHARES; i++) {
        pgk_mem_free(k.shares[i].n);
        pgk_mem_free(k.shares[i].last);
        pgk_vec_free(&k.shares[i].chain);
    }
    pgk_vec_free(&k.extras);
    pgk_vec_free(&k.calls);
    if (!ok)
        pgk_record_members_free(m);
    return ok ? 0 : pgk_fail_nomem(err);
}

void pgk_record_members_free(struct pgk_record_members *m)
{
    pgk_vec_free(&m->guids);
    pgk_mem_free(m->first);
    pgk_mem_free(m->refs);
    *m = (struct pgk_record_members){0};
}
