/* A sample profile in terms of another build: nodes and records at their places there. */
#include "opts.h"
#include "sample_match.h"
#include "sample_origin.h"

struct rebase {
    const struct pgk_sample *p;
    const struct pgk_line_align *lines;
    struct pgk_sample *into;
    uint32_t *name_of; /* by name of `p`; 0: not yet */
    uint32_t *node_of; /* by node of `p`; 0: lost */
    uint64_t *lost;    /* by node of `p`: samples of its total */
    bool *is_live;
};

/* Several lines fit what is ambiguous: it stays at the likeliest one. */
static bool is_kept(const struct pgk_line_found *found)
{
    return found->level <= PGK_MATCH_AMBIGUOUS;
}

/* The name that the build has for a function whose name was made unique otherwise. */
static uint32_t name_in(struct rebase *r, uint32_t name)
{
    const struct pgk_sample_name *n = &r->p->names.list.v[name];
    const struct pgk_line_func *f = &r->lines->funcs[name];
    uint32_t *to = &r->name_of[name];
    if (*to)
        return *to;
    if (f->func != PGK_INDEX_NONE && f->is_renamed) {
        const struct pgk_build *build = &r->lines->build;
        const char *now = pgk_build_text(build, build->funcs.v[f->func].linkage);
        *to = pgk_sample_name(r->into, now, pgk_sample_drop_suffixes(now, strlen(now)));
    } else {
        *to = n->s ? pgk_sample_name(r->into, n->s, n->len)
                   : pgk_sample_name_guid(r->into, n->guid);
    }
    if (*to && !pgk_sample_take_origin(r->into, *to, r->p, name))
        *to = 0;
    return *to;
}

/* The checksum of the build, if its function has changed. */
static uint64_t checksum_in(const struct rebase *r, uint32_t node)
{
    uint64_t old = pgk_sample_node(r->p, node)->checksum, now;
    if (!old)
        return 0;
    return pgk_line_checksum(r->lines, r->p, node, &now) == PGK_MATCH_FUNCTIONS ? now : old;
}

static uint64_t place_of(const struct pgk_line_found *found, uint64_t loc)
{
    return pgk_sample_loc(found->has_line || found->level == PGK_MATCH_LINE_ZERO
                              ? found->line : pgk_sample_line(loc),
                          pgk_sample_discriminator(loc));
}

/* *to is 0 if the node is lost. */
static bool add_node(struct rebase *r, uint32_t node, uint32_t *to)
{
    const struct pgk_sample_node *n = pgk_sample_node(r->p, node);
    uint32_t name = name_in(r, n->name);
    uint64_t checksum = checksum_in(r, node);
    *to = 0;
    if (!name)
        return false;
    if (!n->parent) {
        bool gone = r->lines->funcs[n->name].func == PGK_INDEX_NONE;
        *to = gone ? 0 : pgk_sample_child(r->into, 0, 0, name, PGK_NODE_CONTEXT, checksum, 0);
        return gone || *to;
    }
    uint32_t caller = r->node_of[n->parent];
    struct pgk_line_found found = pgk_line_find_call(r->lines, r->p, node);
    if (!caller || !is_kept(&found))
        return true;
    *to = pgk_sample_child(r->into, caller, place_of(&found, n->loc), name,
                           n->flags & PGK_NODE_CONTEXT, checksum, 0);
    return *to;
}

static bool add_record(struct rebase *r, uint32_t node, const struct pgk_sample_rec *rec)
{
    struct pgk_line_found found = pgk_line_find(r->lines, r->p, node, rec->loc);
    uint32_t what = rec->what;
    if (!is_kept(&found)) {
        if (what == PGK_REC_BODY)
            r->lost[node] = pgk_add_saturated(r->lost[node], rec->count);
        return true;
    }
    if (what) {
        uint32_t name = name_in(r, pgk_rec_name(rec));
        if (!name)
            return false;
        what = name | (what & PGK_REC_VTABLE);
    }
    return pgk_sample_add(r->into, r->node_of[node], place_of(&found, rec->loc), what, rec->count);
}

static bool visit(struct rebase *r, uint32_t node)
{
    const struct pgk_sample_node *n = pgk_sample_node(r->p, node);
    uint32_t to = 0;
    if (!pgk_sample_visit_live(r->p, node, r->is_live))
        return true;
    if (!add_node(r, node, &to))
        return false;
    r->node_of[node] = to;
    if (!to) {
        r->lost[node] = n->total;
        return true;
    }
    if (n->flags & PGK_NODE_TOP)
        pgk_sample_make_top(r->into, to);
    r->into->nodes.v[to].attributes |= n->attributes;
    pgk_sample_add_head(r->into, to, n->head);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n->recs.n; i++)
        ok = add_record(r, node, &n->recs.v[i]);
    return ok;
}

/* Totals of callers include those of what is inlined into them. */
static void add_totals(struct rebase *r)
{
    for (uint32_t node = (uint32_t)r->p->nodes.n; node-- > 1;) {
        const struct pgk_sample_node *n = pgk_sample_node(r->p, node);
        if (!r->is_live[node])
            continue;
        uint64_t lost = r->lost[node] < n->total ? r->lost[node] : n->total;
        if (n->parent && !(n->flags & PGK_NODE_CONTEXT))
            r->lost[n->parent] = pgk_add_saturated(r->lost[n->parent], lost);
        if (r->node_of[node])
            pgk_sample_add_total(r->into, r->node_of[node], n->total - lost);
    }
}

static bool add_all(struct rebase *r)
{
    const struct pgk_sample *p = r->p;
    r->name_of = pgk_mem_zalloc(p->names.list.n + 1, sizeof *r->name_of);
    r->node_of = pgk_mem_zalloc(p->nodes.n + 1, sizeof *r->node_of);
    r->lost = pgk_mem_zalloc(p->nodes.n + 1, sizeof *r->lost);
    r->is_live = pgk_mem_zalloc(p->nodes.n + 1, sizeof *r->is_live);
    bool ok = r->name_of && r->node_of && r->lost && r->is_live &&
              pgk_sample_take_symbols(r->into, p);
    for (uint32_t node = 1; ok && node < p->nodes.n; node++)
        ok = visit(r, node);
    if (ok)
        add_totals(r);
    pgk_mem_free(r->name_of);
    pgk_mem_free(r->node_of);
    pgk_mem_free(r->lost);
    pgk_mem_free(r->is_live);
    return ok;
}

static int rebase(struct pgk_sample **into, const struct pgk_sample *p,
                  const struct pgk_line_align *lines, struct pgk_err *err)
{
    struct rebase r = {.p = p, .lines = lines};
    PGK_TRY(pgk_sample_new(&r.into, err));
    int status = pgk_sample_set_kind(r.into, p->kind.contexts, p->kind.probes, NULL, err);
    r.into->preinlined = p->preinlined;
    r.into->fs = p->fs;
    r.into->partial = p->partial;
    r.into->has_vtables = p->has_vtables;
    if (!status && !add_all(&r))
        status = pgk_fail_nomem(err);
    if (!status)
        status = pgk_sample_finish(r.into, err);
    if (status)
        pgk_sample_close(&r.into);
    else
        *into = r.into;
    return status;
}

int pgk_sample_rebase(struct pgk_sample **rebased, struct pgk_function_match **match,
                      const struct pgk_sample *profile, struct pgk_binaries *binaries,
                      const struct pgk_match_opts *given, struct pgk_err *err)
{
    struct pgk_match_opts opts;
    struct pgk_line_align lines = {0};
    struct pgk_function_match *found = NULL;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    if (!profile->by_heat.n)
        return pgk_fail(err, PGK_E_ARG, .field = "profile", .found = "no functions",
                        .expected = "samples of functions");
    int status = pgk_line_align(&lines, profile, binaries, opts.profiled, err);
    if (!status)
        status = pgk_match_lines(&found, profile, &lines, err);
    if (!status)
        status = rebase(rebased, profile, &lines, err);
    pgk_line_align_free(&lines);
    if (!status && match)
        *match = found;
    else
        pgk_function_match_close(&found);
    return status;
}
