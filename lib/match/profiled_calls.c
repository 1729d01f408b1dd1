/* The calls of the build that was profiled: a profile has only those that contexts go through. */
#include "match_priv.h"

struct adder {
    struct pgk_match *m;
    struct pgk_index by_guid; /* functions of the profile */
};

static uint32_t find_old(const struct adder *a, uint64_t guid)
{
    PGK_INDEX_FOR (&a->by_guid, guid, i)
        if (a->m->heap->funcs.v[i].guid == guid)
            return i;
    return PGK_INDEX_NONE;
}

static uint32_t callee_of(const struct adder *a, const struct pgk_build_call *c)
{
    const struct pgk_match *m = a->m;
    if (c->callee == PGK_INDEX_NONE)
        return PGK_OLD_BY_ADDRESS;
    const struct pgk_build_func *f = &m->profiled.funcs.v[c->callee];
    if (f->allocates)
        return PGK_INDEX_NONE;
    uint32_t old = find_old(a, f->full_guid);
    return old != PGK_INDEX_NONE ? old : (uint32_t)m->heap->funcs.n + c->callee;
}

/* The function as it was profiled, if there is one alone of that name. */
static uint32_t profiled_func(const struct pgk_match *m, uint32_t old_func)
{
    uint64_t guid = m->heap->funcs.v[old_func].guid;
    uint32_t at = 0, func = pgk_build_next(&m->profiled, guid, &at);
    bool alone = func != PGK_INDEX_NONE &&
                 pgk_build_next(&m->profiled, guid, &at) == PGK_INDEX_NONE;
    return alone ? func : PGK_INDEX_NONE;
}

static bool add_calls(const struct adder *a, uint32_t old_func)
{
    struct pgk_match *m = a->m;
    uint32_t func = profiled_func(m, old_func);
    if (func == PGK_INDEX_NONE)
        return true;
    const struct pgk_build_func *f = &m->profiled.funcs.v[func];
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++) {
        const struct pgk_build_call *c = &m->profiled.calls.v[i];
        struct pgk_old_call call = {old_func, callee_of(a, c),
                                    pgk_frame_place(c->offset, c->column), false};
        if (c->line && !pgk_vec_push(&m->old_calls, call))
            return false;
    }
    return true;
}

bool pgk_match_add_profiled(struct pgk_match *m)
{
    struct adder a = {.m = m};
    const struct pgk_heap *h = m->heap;
    bool ok = true;
    for (uint32_t i = 0; ok && m->profiled.calls.n && i < h->funcs.n; i++)
        ok = pgk_index_add(&a.by_guid, h->funcs.v[i].guid, i);
    for (uint32_t i = 0; ok && m->profiled.calls.n && i < h->funcs.n; i++)
        ok = add_calls(&a, i);
    pgk_index_free(&a.by_guid);
    return ok;
}
