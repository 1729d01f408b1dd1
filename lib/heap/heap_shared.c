/* Several threads that add to one heap model. */
#include "heap_shared.h"

#include "spin.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CACHE_LINE = 64 };

/* Fields that change often are on other cache lines than fields that are only read. */
struct pgk_heap_sharing {
    pthread_rwlock_t tables; /* read-locked by claims, write-locked to grow tables */
    atomic_size_t claimed_nodes, claimed_contexts;
    char apart_1[CACHE_LINE];
    pthread_mutex_t names;
    char apart_2[CACHE_LINE];
    size_t nodes; /* how many there are, instead of what the model says */
    char apart_3[CACHE_LINE];
    size_t contexts;
    char apart_4[CACHE_LINE];
};

int pgk_heap_share(struct pgk_heap *h, struct pgk_err *err)
{
    struct pgk_heap_sharing *s = pgk_mem_zalloc(1, sizeof *s);
    if (!s)
        return pgk_fail_nomem(err);
    pthread_rwlock_init(&s->tables, NULL);
    pthread_mutex_init(&s->names, NULL);
    atomic_init(&s->claimed_nodes, 0);
    atomic_init(&s->claimed_contexts, 0);
    s->nodes = h->stacks.nodes.n;
    s->contexts = h->contexts.n;
    h->sharing = s;
    return 0;
}

static void count(struct pgk_heap *h)
{
    h->stacks.nodes.n = h->sharing->nodes;
    h->contexts.n = h->sharing->contexts;
}

void pgk_heap_unshare(struct pgk_heap *h)
{
    struct pgk_heap_sharing *s = h->sharing;
    if (!s)
        return;
    count(h);
    h->sharing = NULL;
    pthread_rwlock_destroy(&s->tables);
    pthread_mutex_destroy(&s->names);
    pgk_mem_free(s);
}

void pgk_heap_hold_names(struct pgk_heap *h)
{
    if (h->sharing)
        pthread_mutex_lock(&h->sharing->names);
}

void pgk_heap_let_names(struct pgk_heap *h)
{
    if (h->sharing)
        pthread_mutex_unlock(&h->sharing->names);
}

/* ---- capacity ---- */

/* Whether the tables can hold all claims. Entries that a thread has added count before its claim
 * ends. */
static bool has_space(const struct pgk_heap *h, size_t nodes, size_t contexts)
{
    const struct pgk_heap_sharing *s = h->sharing;
    return __atomic_load_n(&s->nodes, __ATOMIC_ACQUIRE) + nodes <= pgk_stack_capacity(&h->stacks) &&
           __atomic_load_n(&s->contexts, __ATOMIC_ACQUIRE) + contexts <= h->contexts.cap &&
           h->context_of.n >= h->stacks.nodes.cap;
}

/* Only while no thread has a claim. */
static int make_space(struct pgk_heap *h, size_t nodes, size_t contexts, struct pgk_err *err)
{
    count(h);
    if (h->contexts.n + contexts >= PGK_CONTEXT_HELD ||
        !pgk_stack_reserve(&h->stacks, h->stacks.nodes.n + nodes) ||
        !pgk_vec_reserve(&h->contexts, contexts))
        return pgk_fail_nomem(err);
    if (h->context_of.n >= h->stacks.nodes.cap)
        return 0;
    /* Zeroed as it is first used: most of it will be needed late, if at all. */
    size_t n = h->stacks.nodes.cap;
    uint32_t *all = pgk_mem_zalloc(n, sizeof *all);
    if (!all)
        return pgk_fail_nomem(err);
    if (h->context_of.n)
        memcpy(all, h->context_of.v, h->context_of.n * sizeof *all);
    pgk_mem_free(h->context_of.v);
    h->context_of.v = all;
    h->context_of.n = h->context_of.cap = n;
    return 0;
}

int pgk_heap_claim(struct pgk_heap *h, size_t nodes, size_t contexts, struct pgk_err *err)
{
    struct pgk_heap_sharing *s = h->sharing;
    while (s) {
        pthread_rwlock_rdlock(&s->tables);
        if (has_space(h, atomic_fetch_add(&s->claimed_nodes, nodes) + nodes,
                      atomic_fetch_add(&s->claimed_contexts, contexts) + contexts))
            return 0;
        pgk_heap_release(h, nodes, contexts);
        pthread_rwlock_wrlock(&s->tables);
        int status = make_space(h, nodes, contexts, err);
        pthread_rwlock_unlock(&s->tables);
        if (status)
            return status;
    }
    return 0;
}

void pgk_heap_release(struct pgk_heap *h, size_t nodes, size_t contexts)
{
    struct pgk_heap_sharing *s = h->sharing;
    if (!s)
        return;
    atomic_fetch_sub(&s->claimed_nodes, nodes);
    atomic_fetch_sub(&s->claimed_contexts, contexts);
    pthread_rwlock_unlock(&s->tables);
}

bool pgk_heap_push(struct pgk_heap *h, uint32_t parent, const uint32_t *frames, size_t n,
                   uint32_t *nodes)
{
    if (!h->sharing)
        return pgk_stack_push_path(&h->stacks, parent, frames, n, nodes);
    pgk_stack_push_path_shared(&h->stacks, &h->sharing->nodes, parent, frames, n, nodes);
    return true;
}

/* ---- contexts ---- */

/* The value of the entry; no other thread changes it, or its context, until it is set again. */
static uint32_t hold(uint32_t *entry)
{
    unsigned turns = 0;
    for (;;) {
        uint32_t was = __atomic_fetch_or(entry, PGK_CONTEXT_HELD, __ATOMIC_ACQUIRE);
        if (!(was & PGK_CONTEXT_HELD))
            return was;
        while (__atomic_load_n(entry, __ATOMIC_RELAXED) & PGK_CONTEXT_HELD)
            pgk_spin(&turns);
    }
}

static void let(uint32_t *entry, uint32_t value)
{
    __atomic_store_n(entry, value, __ATOMIC_RELEASE);
}

static bool add_to(struct pgk_heap *h, struct pgk_heap_context *c, const struct pgk_mib *mib)
{
    if (pgk_context_add_narrow(c, mib))
        return true;
    pgk_heap_hold_names(h);
    bool ok = pgk_context_add(h, c, mib);
    pgk_heap_let_names(h);
    return ok;
}

static bool begin(struct pgk_heap *h, struct pgk_heap_context *c, uint32_t stack,
                  const struct pgk_mib *mib)
{
    *c = (struct pgk_heap_context){.stack = stack};
    if (pgk_context_set_narrow(c, mib))
        return true;
    pgk_heap_hold_names(h);
    bool ok = pgk_context_begin(h, c, stack, mib);
    pgk_heap_let_names(h);
    return ok;
}

int pgk_heap_add_shared(struct pgk_heap *h, uint32_t stack, const struct pgk_mib *mib,
                        struct pgk_err *err)
{
    uint32_t *entry = &h->context_of.v[stack], at = hold(entry);
    bool ok;
    if (at) {
        ok = add_to(h, &h->contexts.v[at - 1], mib);
    } else {
        at = (uint32_t)__atomic_add_fetch(&h->sharing->contexts, 1, __ATOMIC_RELAXED);
        ok = begin(h, &h->contexts.v[at - 1], stack, mib);
    }
    let(entry, at);
    return ok ? 0 : pgk_fail_nomem(err);
}

void pgk_heap_own_by_chain_shared(struct pgk_heap *h, uint32_t stack)
{
    uint32_t *entry = &h->context_of.v[stack], at = hold(entry);
    h->contexts.v[at - 1].owned_by_chain = true;
    let(entry, at);
}
