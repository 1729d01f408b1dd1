/* Members of function records, in the order of the file. Everything is gone through twice in that
 * order, first to count and then to fill in, so that nothing is sorted. */
#include "record_members.h"

#include "u64_set.h"

#include <stdlib.h>

/* A context in the record of a function that is not in its inline chain. */
struct extra {
    uint32_t rank, func;
};

struct maker {
    struct pgk_record_members *m;
    const struct pgk_heap *h;
    const struct pgk_radix_stacks *radix;
    uint32_t *record_of;  /* by function */
    bool *owned;          /* by rank: a context that stands in the records of its inline chain */
    uint32_t *last;       /* by record: key of the last member + 1 */
    uint32_t *at;         /* by record: where the next member goes; NULL while counting */
    PGK_VEC(struct extra) extras;  /* by rank */
    PGK_VEC(uint32_t) calls;       /* sites, by rank */
    PGK_VEC(uint32_t) chain;       /* functions */
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
             x = k->radix->stack_rank[k->h->sites.v[i].stack],
             y = k->radix->stack_rank[k->h->sites.v[j].stack];
    if (x != y)
        return x < y ? -1 : 1;
    return i < j ? -1 : i > j;
}

static bool order_sites(struct maker *k)
{
    const struct pgk_heap *h = k->h;
    for (uint32_t i = 0; i < h->sites.n; i++) {
        const struct pgk_heap_site *s = &h->sites.v[i];
        uint32_t rank = k->radix->stack_rank[s->stack];
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
static void put(struct maker *k, uint32_t func, uint32_t key, uint32_t ref)
{
    uint32_t record = k->record_of[func];
    if (k->last[record] == key + 1)
        return;
    k->last[record] = key + 1;
    if (k->at)
        k->m->refs[k->at[record]++] = ref;
    else
        k->m->first[record + 1]++;
}

static bool put_chain(struct maker *k, uint32_t rank)
{
    uint32_t stack = k->radix->stacks[rank];
    size_t n = pgk_heap_chain(k->h, stack, k->chain.v, k->chain.cap);
    if (n > k->chain.cap) {
        /* Functions past the first ones may have been counted twice: n is an upper bound. */
        if (!pgk_vec_reserve(&k->chain, n))
            return false;
        n = pgk_heap_chain(k->h, stack, k->chain.v, k->chain.cap);
    }
    for (size_t i = 0; i < n; i++)
        put(k, k->chain.v[i], rank, rank);
    return true;
}

static bool put_all(struct maker *k)
{
    size_t extra = 0;
    for (uint32_t rank = 0; rank < k->radix->n_stacks; rank++) {
        if (k->owned[rank] && !put_chain(k, rank))
            return false;
        for (; extra < k->extras.n && k->extras.v[extra].rank == rank; extra++)
            put(k, k->extras.v[extra].func, rank, rank);
    }
    for (size_t i = 0; i < k->calls.n; i++) {
        const struct pgk_heap_site *s = &k->h->sites.v[k->calls.v[i]];
        put(k, s->func, k->radix->n_stacks + k->radix->stack_rank[s->stack],
            PGK_MEMBER_SITE | k->calls.v[i]);
    }
    return true;
}

static bool make(struct maker *k)
{
    struct pgk_record_members *m = k->m;
    size_t records;
    if (!number_records(k) || !order_sites(k) || !pgk_vec_reserve(&k->chain, 1))
        return false;
    records = m->guids.n;
    k->owned = pgk_mem_zalloc(k->radix->n_stacks + 1, 1);
    k->last = pgk_mem_zalloc(records + 1, sizeof *k->last);
    m->first = pgk_mem_zalloc(records + 2, sizeof *m->first);
    if (!k->owned || !k->last || !m->first)
        return false;
    for (uint32_t i = 0; i < k->h->contexts.n; i++) {
        const struct pgk_heap_context *c = &k->h->contexts.v[i];
        if (c->stack)
            k->owned[k->radix->stack_rank[c->stack]] = c->owned_by_chain;
    }
    if (!put_all(k))
        return false;
    for (size_t i = 0; i < records; i++)
        m->first[i + 1] += m->first[i];
    m->refs = pgk_mem_alloc((size_t)m->first[records] + 1, sizeof *m->refs);
    k->at = pgk_mem_alloc(records + 1, sizeof *k->at);
    if (!m->refs || !k->at)
        return false;
    memcpy(k->at, m->first, records * sizeof *k->at);
    memset(k->last, 0, records * sizeof *k->last);
    return put_all(k);
}

int pgk_record_members_make(struct pgk_record_members *m, const struct pgk_heap *h,
                            const struct pgk_radix_stacks *radix, struct pgk_err *err)
{
    struct maker k = {.m = m, .h = h, .radix = radix};
    *m = (struct pgk_record_members){0};
    bool ok = make(&k);
    pgk_mem_free(k.record_of);
    pgk_mem_free(k.owned);
    pgk_mem_free(k.last);
    pgk_mem_free(k.at);
    pgk_vec_free(&k.extras);
    pgk_vec_free(&k.calls);
    pgk_vec_free(&k.chain);
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
