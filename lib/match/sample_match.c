/* A sample profile in another build: samples by level. */
#include "sample_match.h"

#include "function_totals.h"
#include "opts.h"

/* The state of each node during the walk. */
struct walk {
    const struct pgk_sample *p;
    struct pgk_function_match *m;
    const struct pgk_line_align *lines;
    uint8_t *level; /* by node: the worst of the calls it is reached by */
    bool *is_live;
    struct pgk_level_samples *by_name;
};

static enum pgk_match_level worse(unsigned a, unsigned b)
{
    return (enum pgk_match_level)(a > b ? a : b);
}

/* Functions that are gone are known by what the profile has of their name. */
static uint32_t text_of(struct walk *w, uint32_t name)
{
    const struct pgk_sample_name *n = &w->p->names.list.v[name];
    return n->s ? pgk_intern(&w->m->strings, n->s, n->len) : 0;
}

static uint64_t guid_of(const struct walk *w, uint32_t name)
{
    return pgk_name_guid(&w->p->names.list.v[name]);
}

static bool note(struct walk *w, struct pgk_changed *c, uint32_t name, uint32_t callee)
{
    c->guid = guid_of(w, name);
    c->function = text_of(w, name);
    if (callee) {
        c->callee_guid = guid_of(w, callee);
        c->callee = text_of(w, callee);
    }
    if (w->lines->funcs[name].func != PGK_INDEX_NONE) {
        const struct pgk_build *build = &w->lines->build;
        const struct pgk_build_func *f = &build->funcs.v[w->lines->funcs[name].func];
        c->file = pgk_intern_cstr(&w->m->strings, pgk_build_text(build, f->file));
        c->decl_line = f->decl_line;
        if (w->lines->funcs[name].has_new_name)
            c->now_function =
                pgk_intern_cstr(&w->m->strings, pgk_build_text(build, f->linkage));
    }
    return c->function != PGK_INDEX_NONE && c->now_function != PGK_INDEX_NONE &&
           c->callee != PGK_INDEX_NONE && c->file != PGK_INDEX_NONE &&
           pgk_function_match_note(w->m, c);
}

static void put_checksum(const struct walk *w, uint32_t node, struct pgk_changed *c)
{
    c->by_checksum = w->lines->by_probes;
    if (!c->by_checksum)
        return;
    c->checksum = pgk_sample_node(w->p, node)->checksum;
    (void)pgk_line_checksum(w->lines, w->p, node, &c->now_checksum);
}

/* The call that a node is inlined or entered through. */
static bool enter(struct walk *w, uint32_t node)
{
    const struct pgk_sample_node *n = pgk_sample_node(w->p, node);
    struct pgk_line_found found = pgk_line_find_call(w->lines, w->p, node);
    w->level[node] = (uint8_t)worse(w->level[n->parent], found.level);
    struct pgk_changed c = {
        .level = (uint8_t)found.level,
        .line = pgk_sample_line(n->loc),
        .discriminator = pgk_sample_discriminator(n->loc),
        .now_line = found.line,
        .has_now = found.has_line,
        .line_zero = found.line_zero,
        .inlined = !(n->flags & PGK_NODE_CONTEXT),
        .samples = n->total,
    };
    put_checksum(w, n->parent, &c);
    return found.level == PGK_MATCH_EXACT ||
           note(w, &c, pgk_sample_node(w->p, n->parent)->name, n->name);
}

static bool count(struct walk *w, uint32_t node, const struct pgk_sample_rec *r)
{
    const struct pgk_sample_node *n = pgk_sample_node(w->p, node);
    struct pgk_line_found found = pgk_line_find(w->lines, w->p, node, r->loc);
    struct pgk_changed c = {
        .level = (uint8_t)found.level,
        .line = pgk_sample_line(r->loc),
        .discriminator = pgk_sample_discriminator(r->loc),
        .now_line = found.line,
        .has_now = found.has_line,
        .line_zero = found.line_zero,
        .samples = r->count,
    };
    put_checksum(w, node, &c);
    pgk_function_match_count(w->m, worse(w->level[node], c.level), r->count,
                             &w->by_name[n->name]);
    return c.level == PGK_MATCH_EXACT || note(w, &c, n->name, 0);
}

/* Callers come before what they call. */
static bool visit(struct walk *w, uint32_t node)
{
    const struct pgk_sample_node *n = pgk_sample_node(w->p, node);
    bool ok = true;
    if (!pgk_sample_visit_live(w->p, node, w->is_live))
        return true;
    if (n->parent)
        ok = enter(w, node);
    for (uint32_t i = 0; ok && i < n->recs.n; i++)
        if (n->recs.v[i].what == PGK_REC_BODY)
            ok = count(w, node, &n->recs.v[i]);
    return ok;
}

static int walk(struct walk *w, struct pgk_err *err)
{
    const struct pgk_sample *p = w->p;
    w->level = pgk_mem_zalloc(p->nodes.n + 1, sizeof *w->level);
    w->is_live = pgk_mem_zalloc(p->nodes.n + 1, sizeof *w->is_live);
    w->by_name = pgk_mem_zalloc(p->names.list.n + 1, sizeof *w->by_name);
    bool ok = w->level && w->is_live && w->by_name;
    for (uint32_t n = 1; ok && n < p->nodes.n; n++)
        ok = visit(w, n);
    for (size_t i = 0; ok && i < p->names.list.n; i++)
        pgk_function_match_close_function(w->m, &w->by_name[i]);
    pgk_mem_free(w->level);
    pgk_mem_free(w->is_live);
    pgk_mem_free(w->by_name);
    if (!ok)
        return pgk_fail_nomem(err);
    pgk_function_match_finish(w->m);
    return 0;
}

int pgk_match_lines(struct pgk_function_match **match, const struct pgk_sample *profile,
                    const struct pgk_line_align *lines, struct pgk_err *err)
{
    struct walk w = {.p = profile, .lines = lines};
    PGK_TRY(pgk_function_match_new(&w.m, err));
    int status = walk(&w, err);
    if (status)
        pgk_function_match_close(&w.m);
    else
        *match = w.m;
    return status;
}

int pgk_match_sample(struct pgk_function_match **into, const struct pgk_sample *profile,
                     struct pgk_binaries *binaries, const struct pgk_match_opts *given,
                     struct pgk_err *err)
{
    struct pgk_match_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    if (!profile->by_heat.n)
        return pgk_fail(err, PGK_E_EMPTY, .field = "functions", .found = "none",
                        .expected = "a sample profile with functions");
    struct pgk_line_align lines = {0};
    int status = pgk_line_align(&lines, profile, binaries, opts.profiled, err);
    if (!status)
        status = pgk_match_lines(into, profile, &lines, err);
    pgk_line_align_free(&lines);
    return status;
}
