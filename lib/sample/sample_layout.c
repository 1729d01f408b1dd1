/* Profiles with another layout: contexts as inlinees, or nothing nested at all. */
#include "sample_layout.h"

#include "opts.h"
#include "sample_recs.h"
#include "saturate.h"

/* ---- nested to flat ---- */

uint64_t pgk_sample_entries(const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_node *n = &p->nodes.v[node];
    uint32_t first = pgk_sample_first(p, node), body = 0;
    uint64_t count = 0;
    while (body < n->recs.n && n->recs.v[body].what != PGK_REC_BODY)
        body++;
    if (body < n->recs.n && (!first || n->recs.v[body].loc < p->nodes.v[first].loc)) {
        count = n->recs.v[body].count;
    } else {
        for (uint32_t c = first; c && p->nodes.v[c].loc == p->nodes.v[first].loc;
             c = pgk_sample_next(p, c))
            count = pgk_add_saturated(count, pgk_sample_entries(p, c));
    }
    return count ? count : n->total > 0;
}

/* Adds the node to its function, and for each inlinee a call in place of its samples. */
static bool flatten(struct pgk_sample_merger *m, uint32_t node)
{
    const struct pgk_sample_node *n = &m->from->nodes.v[node];
    uint32_t name = pgk_merger_name(m, n->name), out;
    uint64_t total = n->total;
    out = name ? pgk_sample_child(m->into, 0, 0, name, PGK_NODE_CONTEXT, n->checksum, 0) : 0;
    if (!out)
        return false;
    pgk_sample_make_top(m->into, out);
    if (pgk_sample_is_top(m->from, node))
        m->into->nodes.v[out].attributes |= n->attributes;
    for (uint32_t i = 0; i < n->recs.n; i++) {
        const struct pgk_sample_rec *r = &n->recs.v[i];
        uint32_t what = pgk_rec_name(r) ? pgk_merger_name(m, pgk_rec_name(r)) : 0;
        if ((r->what && !what) ||
            !pgk_sample_add(m->into, out, r->loc, what | (r->what & PGK_REC_VTABLE), r->count))
            return false;
    }
    for (uint32_t c = pgk_sample_first(m->from, node); c; c = pgk_sample_next(m->from, c)) {
        const struct pgk_sample_node *inlinee = &m->from->nodes.v[c];
        uint64_t entries = pgk_sample_entries(m->from, c);
        uint32_t callee = pgk_merger_name(m, inlinee->name);
        if (!callee || !pgk_sample_add_body(m->into, out, inlinee->loc, entries) ||
            !pgk_sample_add_target(m->into, out, inlinee->loc, callee, entries))
            return false;
        total = total > inlinee->total ? total - inlinee->total : 0;
        total = pgk_add_saturated(total, entries);
        if (!flatten(m, c))
            return false;
    }
    pgk_sample_add_total(m->into, out, total);
    return true;
}

static int flatten_all(struct pgk_sample *into, const struct pgk_sample *from, struct pgk_err *err)
{
    struct pgk_sample_merger m;
    PGK_TRY(pgk_sample_set_kind(into, false, from->kind.probes, NULL, err));
    int status = pgk_merger_open(&m, into, from, err);
    for (size_t i = 0; i < from->by_heat.n && !status; i++)
        if (!flatten(&m, from->by_heat.v[i]))
            status = pgk_fail_nomem(err);
    pgk_merger_close(&m);
    if (!status)
        status = pgk_sample_finish(into, err);
    for (size_t i = 0; !status && i < into->by_heat.n; i++) {
        struct pgk_sample_node *n = &into->nodes.v[into->by_heat.v[i]];
        n->head = pgk_sample_entries(into, into->by_heat.v[i]);
    }
    return status;
}

/* Attributes speak of a context, and are of no use for what became of it. */
static void clear_attributes(struct pgk_sample *p)
{
    for (uint32_t id = 1; id < p->nodes.n; id++)
        if (pgk_sample_is_top(p, id))
            p->nodes.v[id].attributes = 0;
}

static int flatten_contexts(struct pgk_sample *into, const struct pgk_sample *from,
                            struct pgk_err *err)
{
    PGK_TRY(pgk_sample_merge_contexts(into, from, from->by_heat.n, err));
    clear_attributes(into);
    return 0;
}

/* ---- contexts to nested ---- */

/* Contexts by caller: the first one called, and the next one of the same caller. */
struct callees {
    pgk_id_vec first, next;
};

static bool list_callees(struct callees *c, const struct pgk_sample *p)
{
    if (!pgk_vec_reserve(&c->first, p->nodes.n) || !pgk_vec_reserve(&c->next, p->nodes.n))
        return false;
    memset(c->first.v, 0, p->nodes.n * sizeof *c->first.v);
    for (uint32_t id = (uint32_t)p->nodes.n - 1; id > 0; id--) {
        const struct pgk_sample_node *n = &p->nodes.v[id];
        if (!(n->flags & PGK_NODE_CONTEXT) || n->flags & PGK_NODE_LOST)
            continue;
        c->next.v[id] = c->first.v[n->parent];
        c->first.v[n->parent] = id;
    }
    return true;
}

struct nester {
    struct pgk_sample_merger m;
    struct callees callees;
    bool and_base; /* contexts that became inlinees are added to their functions, too */
};

/* The call is no longer a call: its count leaves the line that has it. */
static void uncount_call(struct pgk_stage_node *n, uint64_t loc, uint32_t callee)
{
    struct pgk_sample_rec *body = NULL, *target = NULL;
    for (size_t i = 0; i < n->recs.n; i++) {
        struct pgk_sample_rec *r = &n->recs.v[i];
        if (r->loc == loc && r->what == PGK_REC_BODY)
            body = r;
        if (r->loc == loc && r->what == callee)
            target = r;
    }
    if (!body)
        return;
    uint64_t count = target ? target->count : 0;
    if (count > body->count)
        count = body->count;
    body->count -= count;
    n->total = n->total > count ? n->total - count : 0;
    size_t kept = 0;
    bool drop_line = !body->count;
    for (size_t i = 0; i < n->recs.n; i++) {
        struct pgk_sample_rec r = n->recs.v[i];
        bool of_line = r.loc == loc && !pgk_rec_is_vtable(&r);
        if (!(of_line && (drop_line || r.what == callee)))
            n->recs.v[kept++] = r;
    }
    n->recs.n = kept;
}

/* Stages a context in `slot`, with the contexts it calls as its inlinees. Totals then include those
 * of inlinees, and a call that became one is no call target any more. */
static int nest(struct nester *n, uint32_t context, uint32_t slot, struct pgk_err *err)
{
    const struct pgk_sample *from = n->m.from;
    struct pgk_sample_stage *stage = &n->m.stage;
    if (!pgk_merger_stage(&n->m, slot, context))
        return pgk_fail_nomem(err);
    if (stage->slots.v[slot].depth >= PGK_SAMPLE_MAX_DEPTH)
        return pgk_fail(err, PGK_E_LIMIT, .found = "contexts of more than 1000 frames",
                        .expected = "at most 1000");
    for (uint32_t c = n->callees.first.v[context]; c; c = n->callees.next.v[c]) {
        if (!pgk_sample_is_top(from, c))
            continue;
        uint64_t loc = from->nodes.v[c].loc;
        uint32_t name = pgk_merger_name(&n->m, from->nodes.v[c].name);
        uint32_t inlinee = name ? pgk_stage_inlinee(stage, slot, loc, name) : PGK_STAGE_NONE;
        if (inlinee == PGK_STAGE_NONE)
            return pgk_fail_nomem(err);
        PGK_TRY(nest(n, c, inlinee, err));
        struct pgk_stage_node *caller = &stage->slots.v[slot], *callee = &stage->slots.v[inlinee];
        callee->head = 0; /* inlinees have none */
        if (n->and_base)
            callee->attributes |= PGK_SAMPLE_IN_BASE;
        caller->total = pgk_add_saturated(caller->total, callee->total);
        uncount_call(caller, loc, name);
    }
    return 0;
}

static bool has_own_profile(const struct pgk_sample *p, uint32_t context)
{
    uint32_t function = p->function_of.v[p->nodes.v[context].name];
    return function && pgk_sample_is_top(p, function);
}

/* A context whose caller has no profile goes to its function. */
static int nest_all(struct nester *n, struct pgk_err *err)
{
    const struct pgk_sample *from = n->m.from;
    if (!list_callees(&n->callees, from))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < from->by_identity.n; i++) {
        uint32_t top = from->by_identity.v[i], caller = from->nodes.v[top].parent;
        if (caller && !n->and_base && pgk_sample_is_top(from, caller))
            continue;
        uint32_t name = pgk_merger_name(&n->m, from->nodes.v[top].name);
        if (!name || !pgk_stage_begin(&n->m.stage, name))
            return pgk_fail_nomem(err);
        PGK_TRY(nest(n, top, 0, err));
        if (caller && (!pgk_sample_is_top(from, caller) || has_own_profile(from, top)))
            n->m.stage.slots.v[0].attributes = 0;
        PGK_TRY(pgk_stage_commit(&n->m.stage, n->m.into, (struct pgk_stage_place){0}, 1, err));
    }
    return 0;
}

static int nest_contexts(struct pgk_sample *into, const struct pgk_sample *from, bool and_base,
                         struct pgk_err *err)
{
    struct nester n = {.and_base = and_base};
    PGK_TRY(pgk_sample_set_kind(into, false, from->kind.probes, NULL, err));
    int status = pgk_merger_open(&n.m, into, from, err);
    if (!status)
        status = nest_all(&n, err);
    pgk_merger_close(&n.m);
    pgk_vec_free(&n.callees.first);
    pgk_vec_free(&n.callees.next);
    return status;
}

/* ---- */

int pgk_sample_replace(struct pgk_sample **profile, pgk_sample_make_fn *make, void *ctx,
                       struct pgk_err *err)
{
    struct pgk_sample *new;
    PGK_TRY(pgk_sample_finish(*profile, err));
    PGK_TRY(pgk_sample_new(&new, err));
    int status = make(ctx, new, *profile, err);
    if (status) {
        pgk_sample_close(&new);
        return status;
    }
    pgk_sample_close(profile);
    *profile = new;
    return 0;
}

static int make_layout(void *ctx, struct pgk_sample *into, const struct pgk_sample *from,
                       struct pgk_err *err)
{
    enum pgk_sample_layout layout = *(const enum pgk_sample_layout *)ctx;
    if (layout != PGK_SAMPLE_FLAT)
        return nest_contexts(into, from, layout == PGK_SAMPLE_NESTED_AND_BASE, err);
    return from->kind.contexts ? flatten_contexts(into, from, err) : flatten_all(into, from, err);
}

int pgk_sample_relayout(struct pgk_sample **profile, enum pgk_sample_layout layout,
                        struct pgk_err *err)
{
    if (layout != PGK_SAMPLE_FLAT && !(*profile)->kind.contexts)
        return 0;
    return pgk_sample_replace(profile, make_layout, &layout, err);
}

/* ---- cold contexts ---- */

struct trimmer {
    struct pgk_sample_trim_opts opts;
    uint64_t threshold;
};

static bool is_cold(const struct trimmer *t, const struct pgk_sample *p, uint32_t top)
{
    bool whole = t->opts.functions_only && !t->opts.merge && p->nodes.v[top].parent;
    return !whole && p->nodes.v[top].total < t->threshold;
}

/* Adds what cold contexts became, unless it is cold still and stands alone. */
static int add_shortened(const struct trimmer *t, struct pgk_sample *into,
                         const struct pgk_sample *cold, struct pgk_err *err)
{
    struct pgk_sample_merger m;
    int status = pgk_merger_open(&m, into, cold, err);
    for (uint32_t id = 1; id < cold->nodes.n && !status; id++) {
        if (!pgk_sample_is_top(cold, id))
            continue;
        if (t->opts.trim && is_cold(t, cold, id) && !pgk_merger_has(&m, id))
            continue;
        status = pgk_merger_add(&m, id, PGK_ALL_FRAMES, 1, err);
    }
    pgk_merger_close(&m);
    return status;
}

static int trim_with(const struct trimmer *t, struct pgk_sample *into, struct pgk_sample *cold,
                     const struct pgk_sample *from, struct pgk_err *err)
{
    struct pgk_sample_merger hot, shortened;
    unsigned depth = t->opts.depth ? t->opts.depth : 1;
    int status = pgk_merger_open(&hot, into, from, err), opened;
    opened = pgk_merger_open(&shortened, cold, from, err);
    status = status ? status : opened;
    for (size_t i = 0; i < from->by_identity.n && !status; i++) {
        uint32_t top = from->by_identity.v[i];
        if (!is_cold(t, from, top))
            status = pgk_merger_add(&hot, top, PGK_ALL_FRAMES, 1, err);
        else if (t->opts.merge)
            status = pgk_merger_add(&shortened, top, depth, 1, err);
    }
    pgk_merger_close(&hot);
    pgk_merger_close(&shortened);
    if (status)
        return status;
    clear_attributes(cold);
    return add_shortened(t, into, cold, err);
}

static int make_trimmed(void *ctx, struct pgk_sample *into, const struct pgk_sample *from,
                        struct pgk_err *err)
{
    struct pgk_sample *cold;
    PGK_TRY(pgk_sample_set_kind(into, true, from->kind.probes, NULL, err));
    PGK_TRY(pgk_sample_new(&cold, err));
    int status = trim_with(ctx, into, cold, from, err);
    pgk_sample_close(&cold);
    return status;
}

int pgk_sample_trim(struct pgk_sample **profile, const struct pgk_sample_trim_opts *opts,
                    struct pgk_err *err)
{
    struct trimmer t = {0};
    PGK_TRY(PGK_OPTS_TAKE(&t.opts, opts, err));
    t.threshold = t.opts.cold_below;
    if (!(*profile)->kind.contexts || (!t.opts.merge && !t.opts.trim))
        return 0;
    if (!t.threshold) {
        struct pgk_sample_summary summary = {.struct_size = sizeof summary};
        PGK_TRY(pgk_sample_finish(*profile, err));
        PGK_TRY(pgk_sample_summarise(*profile, &summary, err));
        t.threshold = t.opts.cold_share ? pgk_sample_count_at(&summary, t.opts.cold_share)
                                        : pgk_sample_cold_count(&summary);
    }
    return t.threshold ? pgk_sample_replace(profile, make_trimmed, &t, err) : 0;
}
