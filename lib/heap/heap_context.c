/* Contexts of the model, packed. A profile of a large program has a million of them, nearly all of
 * whose values fit into 32 bits; the exceptions lie in a table apart. */
#include "heap_model.h"

#include <string.h>

/* What becomes large first keeps 64 bits: its upper half stands where the address of the profiled
 * process would, which no model holds. */
#define LONG_FIELD PGK_MIB_TotalLifetimeAccessDensity
#define UPPER_HALF PGK_MIB_AccessHistogram

#define STORED_FIELDS ((UINT32_C(1) << PGK_CONTEXT_FIELDS) - 1)

void pgk_context_get(const struct pgk_heap *h, const struct pgk_heap_context *c, struct pgk_mib *m)
{
    if (c->is_wide) {
        memcpy(m->v, h->wide.v[c->v[0]].v, sizeof h->wide.v->v);
    } else {
        for (size_t id = 0; id < PGK_CONTEXT_FIELDS; id++)
            m->v[id] = c->v[id];
        m->v[LONG_FIELD] |= (uint64_t)c->v[UPPER_HALF] << 32;
    }
    m->v[PGK_MIB_AccessHistogram] = 0;
    m->known = c->known;
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
        if (!pgk_vec_push(&h->hists, (struct pgk_context_hist){0}))
            return false;
        c->hist = (uint32_t)h->hists.n;
    }
    h->hists.v[c->hist - 1] = (struct pgk_context_hist){m->hist, m->hist_count};
    return true;
}

static bool set_wide(struct pgk_heap *h, struct pgk_heap_context *c, const uint64_t *v)
{
    if (!c->is_wide) {
        if (!pgk_vec_push(&h->wide, (struct pgk_context_wide){0}))
            return false;
        c->is_wide = true;
        c->v[0] = (uint32_t)h->wide.n - 1;
    }
    memcpy(h->wide.v[c->v[0]].v, v, sizeof h->wide.v->v);
    return true;
}

bool pgk_context_set(struct pgk_heap *h, struct pgk_heap_context *c, const struct pgk_mib *m)
{
    struct pgk_mib known;
    if ((m->known & STORED_FIELDS) != STORED_FIELDS) {
        /* What is not known has no value. */
        known = *m;
        for (size_t id = 0; id < PGK_CONTEXT_FIELDS; id++)
            if (!(m->known >> id & 1))
                known.v[id] = 0;
        m = &known;
    }
    c->known = m->known & ((UINT32_C(1) << PGK_MIB_FIELDS) - 1);
    uint64_t all = 0;
    for (size_t id = 0; id < PGK_CONTEXT_FIELDS; id++)
        all |= id == LONG_FIELD ? 0 : m->v[id];
    if (c->is_wide || all > UINT32_MAX)
        return set_wide(h, c, m->v) && set_histogram(h, c, m);
    for (size_t id = 0; id < PGK_CONTEXT_FIELDS; id++)
        c->v[id] = (uint32_t)m->v[id];
    c->v[UPPER_HALF] = (uint32_t)(m->v[LONG_FIELD] >> 32);
    return set_histogram(h, c, m);
}

bool pgk_context_add(struct pgk_heap *h, struct pgk_heap_context *c, const struct pgk_mib *m)
{
    struct pgk_mib sum;
    pgk_context_get(h, c, &sum);
    return pgk_mib_add(&sum, m, &h->arena) && pgk_context_set(h, c, &sum);
}
