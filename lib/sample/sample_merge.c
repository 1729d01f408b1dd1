/* Adding one profile to another. */
#include "sample_merge.h"

#include "sample_origin.h"

uint32_t pgk_merger_name(struct pgk_sample_merger *m, uint32_t name)
{
    uint32_t *to = &m->name_of.v[name];
    if (!*to) {
        const struct pgk_sample_name *n = &m->from->names.list.v[name];
        *to = m->rename ? m->rename(m->rename_ctx, m->into, n)
              : n->s    ? pgk_sample_name(m->into, n->s, n->len)
                        : pgk_sample_name_guid(m->into, n->guid);
        if (*to && !pgk_sample_take_origin(m->into, *to, m->from, name))
            *to = 0;
    }
    return *to;
}

/* The node of the context that ends at `node`, of which the last `frames` are kept. Contexts
 * that are whole are remembered, as most share their callers. */
static uint32_t map_context(struct pgk_sample_merger *m, uint32_t node, unsigned frames)
{
    PGK_VEC(uint32_t) path = {0};
    bool whole = frames == PGK_ALL_FRAMES;
    uint32_t id = node, to = 0;
    for (; id && path.n < frames && !(whole && m->node_of.v[id]);
         id = m->from->nodes.v[id].parent)
        if (!pgk_vec_push(&path, id))
            goto done;
    to = id && whole ? m->node_of.v[id] : 0;
    while (path.n) {
        id = path.v[--path.n];
        const struct pgk_sample_node *n = &m->from->nodes.v[id];
        uint32_t name = pgk_merger_name(m, n->name);
        to = !name ? 0 : to ? pgk_sample_context(m->into, to, n->loc, name)
                            : pgk_sample_root(m->into, name);
        if (!to)
            goto done;
        if (whole)
            m->node_of.v[id] = to;
    }
done:
    pgk_vec_free(&path);
    return to;
}

static uint64_t map_loc(const struct pgk_sample_merger *m, uint64_t loc)
{
    return loc & (UINT64_C(0xffffffff00000000) | m->discriminator_mask);
}

static bool stage_records(struct pgk_sample_merger *m, uint32_t slot,
                          const struct pgk_sample_recs *recs)
{
    for (uint32_t i = 0; i < recs->n; i++) {
        const struct pgk_sample_rec *r = &recs->v[i];
        uint32_t what = r->what;
        if (what) {
            uint32_t name = pgk_merger_name(m, pgk_rec_name(r));
            if (!name)
                return false;
            what = name | (r->what & PGK_REC_VTABLE);
        }
        if (!pgk_stage_add(&m->stage.slots.v[slot], map_loc(m, r->loc), what, r->count))
            return false;
    }
    return true;
}

bool pgk_merger_stage(struct pgk_sample_merger *m, uint32_t slot, uint32_t node)
{
    const struct pgk_sample_node *n = &m->from->nodes.v[node];
    struct pgk_stage_node *to = &m->stage.slots.v[slot];
    to->total = n->total;
    to->head = n->head;
    to->checksum = n->checksum;
    to->attributes = n->attributes;
    if (!stage_records(m, slot, &n->recs))
        return false;
    for (uint32_t c = n->first_child; c; c = pgk_sample_next(m->from, c)) {
        const struct pgk_sample_node *child = &m->from->nodes.v[c];
        uint32_t name = pgk_merger_name(m, child->name);
        uint64_t loc = map_loc(m, child->loc & ~(uint64_t)m->cleared_of_calls);
        uint32_t inlinee = name ? pgk_stage_inlinee(&m->stage, slot, loc, name)
                                : PGK_STAGE_NONE;
        if (inlinee == PGK_STAGE_NONE || !pgk_merger_stage(m, inlinee, c))
            return false;
    }
    return true;
}

int pgk_merger_add(struct pgk_sample_merger *m, uint32_t top, unsigned frames, uint64_t weight,
                   struct pgk_err *err)
{
    const struct pgk_sample_node *n = &m->from->nodes.v[top];
    struct pgk_stage_place place = {0};
    uint32_t name = pgk_merger_name(m, n->name);
    if (n->parent && frames > 1) {
        place.caller = map_context(m, n->parent, frames == PGK_ALL_FRAMES ? frames : frames - 1);
        place.loc = n->loc;
        if (!place.caller)
            return pgk_fail_nomem(err);
    }
    if (!name || !pgk_stage_begin(&m->stage, name) || !pgk_merger_stage(m, 0, top))
        return pgk_fail_nomem(err);
    return pgk_stage_commit(&m->stage, m->into, place, weight, err);
}

bool pgk_merger_has(struct pgk_sample_merger *m, uint32_t top)
{
    uint32_t to = map_context(m, top, PGK_ALL_FRAMES);
    return to && pgk_sample_is_top(m->into, to);
}

bool pgk_sample_take_symbols(struct pgk_sample *into, const struct pgk_sample *from)
{
    into->has_symbols |= from->has_symbols;
    for (size_t i = 1; from->symbols && i < from->symbols->strs.n; i++)
        if (!pgk_sample_add_symbol(into, from->symbols->strs.v[i].s, from->symbols->strs.v[i].len))
            return false;
    return true;
}

static bool zeroes(pgk_id_vec *vec, size_t n)
{
    if (!pgk_vec_reserve(vec, n + 1))
        return false;
    memset(vec->v, 0, n * sizeof *vec->v);
    vec->n = n;
    return true;
}

int pgk_merger_open(struct pgk_sample_merger *m, struct pgk_sample *into,
                    const struct pgk_sample *from, struct pgk_err *err)
{
    *m = (struct pgk_sample_merger){.into = into, .from = from, .discriminator_mask = UINT32_MAX};
    if (!zeroes(&m->name_of, from->names.list.n) || !zeroes(&m->node_of, from->nodes.n) ||
        !pgk_sample_take_symbols(into, from))
        return pgk_fail_nomem(err);
    into->preinlined |= from->preinlined;
    into->fs |= from->fs;
    into->partial |= from->partial;
    into->has_vtables |= from->has_vtables;
    into->unknown_blocks += from->unknown_blocks;
    return 0;
}

void pgk_merger_close(struct pgk_sample_merger *m)
{
    pgk_stage_free(&m->stage);
    pgk_vec_free(&m->name_of);
    pgk_vec_free(&m->node_of);
}

int pgk_merger_add_all(struct pgk_sample_merger *m, uint64_t weight, struct pgk_err *err)
{
    for (uint32_t id = 1; id < m->from->nodes.n; id++)
        if (pgk_sample_is_top(m->from, id))
            PGK_TRY(pgk_merger_add(m, id, PGK_ALL_FRAMES, weight, err));
    return 0;
}

int pgk_sample_merge(struct pgk_sample *into, const struct pgk_sample *from, uint64_t weight,
                     struct pgk_err *err)
{
    struct pgk_sample_merger m;
    if (from->kind.known)
        PGK_TRY(pgk_sample_set_kind(into, from->kind.contexts, from->kind.probes, NULL, err));
    int status = pgk_merger_open(&m, into, from, err);
    if (!status)
        status = pgk_merger_add_all(&m, weight, err);
    pgk_merger_close(&m);
    return status;
}

int pgk_sample_merge_contexts(struct pgk_sample *into, const struct pgk_sample *from, size_t n,
                              struct pgk_err *err)
{
    struct pgk_sample_merger m;
    PGK_TRY(pgk_sample_set_kind(into, false, from->kind.probes, NULL, err));
    int status = pgk_merger_open(&m, into, from, err);
    for (size_t i = 0; i < n && !status; i++) {
        pgk_sample_prefetch_behind(from, i, n);
        status = pgk_merger_add(&m, from->by_heat.v[i], 1, 1, err);
    }
    pgk_merger_close(&m);
    return status;
}
