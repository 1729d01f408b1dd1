/* Contexts of the model, packed. A profile of a large program has a million of them, nearly all of
 * whose values fit into 32 bits; the exceptions lie in a table apart. */
#include "heap_model.h"

#include <assert.h>
#include <string.h>

/* TotalLifetimeAccessDensity is the first to overflow 32 bits. Its upper half is stored in the slot
 * of AccessHistogram, which is a pointer in the profiled process and never kept. */
#define LONG_FIELD PGK_MIB_TotalLifetimeAccessDensity
#define UPPER_HALF PGK_MIB_AccessHistogram

_Static_assert(PGK_MIB_FIELDS <= 64, "what is known of a context has a bit for each field");
#define ALL_FIELDS (UINT64_MAX >> (64 - PGK_MIB_FIELDS))

void pgk_context_get(const struct pgk_heap *h, const struct pgk_heap_context *c, struct pgk_mib *m)
{
    if (c->is_wide) {
        memcpy(m->v, h->wide.v[c->v[0]].v, sizeof h->wide.v->v);
    } else {
        for (size_t id = 0; id < PGK_MIB_FIELDS; id++)
            m->v[id] = c->v[id];
        m->v[LONG_FIELD] |= (uint64_t)c->v[UPPER_HALF] << 32;
    }
    m->v[PGK_MIB_AccessHistogram] = 0;
    m->known = c->known;
    m->origin = h ? &h->origin : NULL;
    m->hist = c->hist ? h->hists.v[c->hist - 1].v : NULL;
    m->hist_count = c->hist ? h->hists.v[c->hist - 1].n : 0;
}

uint64_t pgk_context_value(const struct pgk_heap *h, const struct pgk_heap_context *c,
                           enum pgk_mib_id id)
{
    if (id == PGK_MIB_AccessHistogram)
        return 0;
    if (c->is_wide)
        return h->wide.v[c->v[0]].v[id];
    return id == LONG_FIELD ? c->v[id] | (uint64_t)c->v[UPPER_HALF] << 32 : c->v[id];
}

uint64_t pgk_context_file_value(const struct pgk_heap *h, const struct pgk_heap_context *c,
                                enum pgk_mib_id id)
{
    return pgk_mib_cut(id, pgk_context_value(h, c, id));
}

static bool set_histogram(struct pgk_heap *h, struct pgk_heap_context *c, const struct pgk_mib *m)
{
    if (!m->hist_count)
        return true;
    if (!c->hist) {
        if (h->hists.n == PGK_CONTEXT_HISTS_MAX ||
            !pgk_vec_push(&h->hists, (struct pgk_context_hist){0}))
            return false;
        c->hist = (uint32_t)h->hists.n & PGK_CONTEXT_HISTS_MAX;
    }
    h->hists.v[c->hist - 1] = (struct pgk_context_hist){m->hist, m->hist_count};
    return true;
}

/* Unknown fields have no value. */
static inline uint64_t known_value(const struct pgk_mib *m, size_t id)
{
    return m->v[id] & -(m->known >> id & 1);
}

static bool set_wide(struct pgk_heap *h, struct pgk_heap_context *c, const struct pgk_mib *m)
{
    if (!c->is_wide) {
        if (!pgk_vec_push(&h->wide, (struct pgk_context_wide){0}))
            return false;
        c->is_wide = true;
        c->v[0] = (uint32_t)h->wide.n - 1;
    }
    uint64_t *v = h->wide.v[c->v[0]].v;
    for (size_t id = 0; id < PGK_MIB_FIELDS; id++)
        v[id] = known_value(m, id);
    c->known = m->known & ALL_FIELDS;
    return true;
}

/* Values that are not known count for the width, too: a large one, which is rare, costs a place in
 * the other table, and all others are copied at once. */
static inline bool set_values(struct pgk_heap_context *c, const struct pgk_mib *m)
{
    uint64_t all = 0;
    for (size_t id = 0; id < PGK_MIB_FIELDS; id++)
        all |= id == LONG_FIELD || id == UPPER_HALF ? 0 : m->v[id];
    if (c->is_wide || all > UINT32_MAX)
        return false;
    for (size_t id = 0; id < PGK_MIB_FIELDS; id++)
        c->v[id] = (uint32_t)m->v[id];
    c->known = m->known & ALL_FIELDS;
    for (uint64_t unknown = ~c->known & ALL_FIELDS; unknown; unknown &= unknown - 1)
        c->v[__builtin_ctzll(unknown)] = 0;
    c->v[UPPER_HALF] = (uint32_t)(known_value(m, LONG_FIELD) >> 32);
    return true;
}

bool pgk_context_set(struct pgk_heap *h, struct pgk_heap_context *c, const struct pgk_mib *m)
{
    return (set_values(c, m) || set_wide(h, c, m)) && set_histogram(h, c, m);
}

bool pgk_context_add(struct pgk_heap *h, struct pgk_heap_context *c, const struct pgk_mib *m)
{
    struct pgk_mib sum;
    pgk_context_get(h, c, &sum);
    return pgk_mib_add(&sum, m, &h->arena) && pgk_context_set(h, c, &sum);
}

bool pgk_context_begin(struct pgk_heap *h, struct pgk_heap_context *c, uint32_t stack,
                       const struct pgk_mib *m)
{
    struct pgk_mib own;
    *c = (struct pgk_heap_context){.stack = stack};
    if (m->hist_count) {
        uint64_t *copy = pgk_arena_alloc(&h->arena, m->hist_count, sizeof *copy);
        if (!copy)
            return false;
        own = *m;
        own.hist = memcpy(copy, m->hist, m->hist_count * sizeof *copy);
        m = &own;
    }
    return pgk_context_set(h, c, m);
}

bool pgk_context_set_narrow(struct pgk_heap_context *c, const struct pgk_mib *m)
{
    return !m->hist_count && set_values(c, m);
}

bool pgk_context_add_narrow(struct pgk_heap_context *c, const struct pgk_mib *m)
{
    struct pgk_mib sum;
    if (c->is_wide || c->hist || m->hist_count)
        return false;
    pgk_context_get(NULL, c, &sum);
    return pgk_mib_add(&sum, m, NULL) && pgk_context_set_narrow(c, &sum);
}

/* ---- the public side ---- */

uint64_t pgk_heap_value(const struct pgk_heap *heap, size_t context, enum pgk_mib_id id)
{
    assert(context < heap->contexts.n);
    return (unsigned)id < PGK_MIB_FIELDS
               ? pgk_context_value(heap, &heap->contexts.v[context], id)
               : 0;
}

bool pgk_heap_knows(const struct pgk_heap *heap, size_t context, enum pgk_mib_id id)
{
    assert(context < heap->contexts.n);
    return (unsigned)id < PGK_MIB_FIELDS && heap->contexts.v[context].known >> id & 1;
}

const uint64_t *pgk_heap_histogram(const struct pgk_heap *heap, size_t context, size_t *count)
{
    assert(context < heap->contexts.n);
    uint32_t hist = heap->contexts.v[context].hist;
    *count = hist ? heap->hists.v[hist - 1].n : 0;
    return hist ? heap->hists.v[hist - 1].v : NULL;
}

enum pgk_mib_label pgk_heap_label(const struct pgk_heap *heap, size_t context)
{
    return pgk_mib_label(pgk_heap_mib(heap, context, PGK_MIB_SPACE));
}
