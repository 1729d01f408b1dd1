/* Matches functions of a sample profile with those of a build. */
#include "line_align.h"

#include "call_align.h"
#include "function_totals.h"
#include "probe_build.h"
#include "search.h"

#include <stdlib.h>

/* ---- what the profile knows of functions ---- */

/* The key of the function in the build: its name without compiler suffixes, or, for a static
 * function of C whose name was made unique, the bare name. */
static uint64_t guid_of(const struct pgk_line_align *a, const struct pgk_sample_name *n)
{
    if (!n->s)
        return n->guid;
    uint64_t guid = pgk_build_guid(n->s, n->len);
    uint32_t at = 0;
    return pgk_build_next(&a->build, guid, &at) != PGK_INDEX_NONE
               ? guid
               : pgk_build_bare_guid(n->s, n->len);
}

static void use(struct pgk_line_align *a, const struct pgk_sample *p, uint32_t name)
{
    struct pgk_line_func *f = &a->funcs[name];
    if (f->is_used)
        return;
    f->is_used = true;
    f->guid = guid_of(a, &p->names.list.v[name]);
}

/* Calls without a line cannot be put into order. */
static bool add_call(struct pgk_line_align *a, uint32_t func, uint64_t loc, uint32_t callee)
{
    if (pgk_sample_line(loc) > INT16_MAX)
        return true;
    return pgk_vec_push(&a->calls, (struct pgk_line_call){func, pgk_sample_line(loc),
                                                          a->funcs[callee].guid});
}

static bool list_node(struct pgk_line_align *a, const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_node *n = pgk_sample_node(p, node);
    bool ok = true;
    use(a, p, n->name);
    if (!a->funcs[n->name].checksum)
        a->funcs[n->name].checksum = n->checksum;
    if (n->parent) {
        use(a, p, pgk_sample_node(p, n->parent)->name);
        ok = add_call(a, pgk_sample_node(p, n->parent)->name, n->loc, n->name);
    }
    for (uint32_t i = 0; ok && i < n->recs.n; i++) {
        const struct pgk_sample_rec *r = &n->recs.v[i];
        if (!pgk_rec_is_target(r))
            continue;
        use(a, p, pgk_rec_name(r));
        ok = add_call(a, n->name, r->loc, pgk_rec_name(r));
    }
    return ok;
}

/* Calls of the build that was profiled, if there is one function alone of that name. */
static bool add_profiled(struct pgk_line_align *a, uint32_t name)
{
    uint64_t guid = a->funcs[name].guid;
    uint32_t at = 0, func = pgk_build_next(&a->profiled, guid, &at);
    if (func == PGK_INDEX_NONE || pgk_build_next(&a->profiled, guid, &at) != PGK_INDEX_NONE)
        return true;
    const struct pgk_build_func *f = &a->profiled.funcs.v[func];
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++) {
        const struct pgk_build_call *c = &a->profiled.calls.v[i];
        uint64_t callee = c->callee == PGK_INDEX_NONE ? 0 : a->profiled.funcs.v[c->callee].guid;
        struct pgk_line_call call = {name, c->offset & UINT16_MAX, callee};
        if (c->line && !pgk_vec_push(&a->calls, call))
            return false;
    }
    return true;
}

static int by_line(const void *x, const void *y)
{
    const struct pgk_line_call *a = x, *b = y;
    if (a->func != b->func)
        return a->func < b->func ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* Each call once; those of a line become a group. */
static bool group_calls(struct pgk_line_align *a)
{
    size_t n = 0;
    if (a->calls.n)
        qsort(a->calls.v, a->calls.n, sizeof *a->calls.v, by_line);
    for (size_t i = 0; i < a->calls.n; i++) {
        struct pgk_line_call c = a->calls.v[i];
        const struct pgk_line_call *last = n ? &a->calls.v[n - 1] : NULL;
        if (last && !by_line(last, &c))
            continue;
        if (!last || last->func != c.func || last->line != c.line) {
            struct pgk_line_group g = {.line = c.line, .first = (uint32_t)n, .to = PGK_INDEX_NONE};
            if (!a->funcs[c.func].n_groups++)
                a->funcs[c.func].first_group = (uint32_t)a->groups.n;
            if (!pgk_vec_push(&a->groups, g))
                return false;
        }
        a->calls.v[n++] = c;
        a->groups.v[a->groups.n - 1].end = (uint32_t)n;
    }
    a->calls.n = n;
    return true;
}

/* ---- which calls are which ---- */

enum { ALIKE_NOT, ALIKE_PERHAPS, ALIKE_SURELY };

static bool has_guid(const struct pgk_build_func *f, uint64_t guid)
{
    return f->guid == guid || f->full_guid == guid || f->bare_guid == guid;
}

/* One call of the profile and one of the build. */
static unsigned same_call(const struct pgk_line_align *a, const struct pgk_line_call *old,
                          const struct pgk_build_call *now)
{
    if (now->callee == PGK_INDEX_NONE)
        return old->callee ? ALIKE_PERHAPS : ALIKE_SURELY;
    return old->callee && has_guid(&a->build.funcs.v[now->callee], old->callee) ? ALIKE_SURELY
                                                                               : ALIKE_NOT;
}

/* Calls of a line of the build. */
struct now_group {
    uint32_t first, end; /* of a->build.calls */
};

/* The data of the alignment of one function. */
struct lists {
    const struct pgk_line_align *a;
    const struct pgk_line_group *old;
    PGK_VEC(struct now_group) now;
    PGK_VEC(struct pgk_anchor) old_anchors, now_anchors;
    PGK_VEC(struct pgk_aligned) to;
};

static unsigned same_line(const struct pgk_line_align *a, const struct pgk_line_group *old,
                          uint32_t first, uint32_t end)
{
    unsigned best = ALIKE_NOT;
    for (uint32_t o = old->first; o < old->end; o++) {
        for (uint32_t c = first; c < end && best < ALIKE_SURELY; c++) {
            unsigned same = same_call(a, &a->calls.v[o], &a->build.calls.v[c]);
            best = same > best ? same : best;
        }
    }
    return best;
}

static unsigned alike(void *ctx, size_t i, size_t j)
{
    const struct lists *r = ctx;
    return same_line(r->a, &r->old[i], r->now.v[j].first, r->now.v[j].end);
}

static bool list_now(struct lists *r, const struct pgk_build_func *f)
{
    bool ok = true;
    r->now.n = r->now_anchors.n = 0;
    for (uint32_t i = f->first_call; ok && i < f->first_call + f->n_calls; i++) {
        const struct pgk_build_call *c = &r->a->build.calls.v[i];
        uint32_t offset = c->offset & UINT16_MAX;
        if (!c->line)
            continue;
        if (r->now.n && r->now_anchors.v[r->now.n - 1].offset == offset) {
            r->now.v[r->now.n - 1].end = i + 1;
            r->now_anchors.v[r->now.n - 1].several = true;
            continue;
        }
        ok = pgk_vec_push(&r->now, (struct now_group){i, i + 1}) &&
             pgk_vec_push(&r->now_anchors, (struct pgk_anchor){offset, 0, false});
    }
    return ok;
}

static size_t find_now(const struct lists *r, uint32_t line)
{
    PGK_SEARCH(at, r->now.n, mid, r->now_anchors.v[mid].offset < line)
    return at < r->now.n && r->now_anchors.v[at].offset == line ? at : SIZE_MAX;
}

/* How many lines have their calls where they were. */
static uint32_t in_place(const struct lists *r, uint32_t n_old)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_old; i++) {
        size_t j = find_now(r, r->old[i].line);
        n += j != SIZE_MAX && alike((void *)(uintptr_t)r, i, j) != ALIKE_NOT;
    }
    return n;
}

/* Of functions of one name the one that most calls are in place in. */
static bool pick(struct pgk_line_align *a, struct lists *r, struct pgk_line_func *f)
{
    uint32_t at = 0, best = 0;
    for (uint32_t func; (func = pgk_build_next(&a->build, f->guid, &at)) != PGK_INDEX_NONE;) {
        if (!list_now(r, &a->build.funcs.v[func]))
            return false;
        uint32_t n = in_place(r, f->n_groups);
        if (f->func == PGK_INDEX_NONE || n > best) {
            f->func = func;
            best = n;
        }
    }
    return true;
}

static int align_moved(struct pgk_line_align *a, struct lists *r, struct pgk_line_func *f,
                       struct pgk_err *err)
{
    bool ok = pgk_vec_reserve(&r->to, f->n_groups);
    r->old_anchors.n = 0;
    for (uint32_t i = 0; ok && i < f->n_groups; i++)
        ok = pgk_vec_push(&r->old_anchors, (struct pgk_anchor){r->old[i].line, 0, false});
    if (!ok)
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_calls_align(r->old_anchors.v, f->n_groups, r->now_anchors.v, r->now.n, alike, r,
                            r->to.v, err));
    for (uint32_t i = 0; i < f->n_groups; i++) {
        struct pgk_line_group *g = &a->groups.v[f->first_group + i];
        if (r->to.v[i].to == PGK_INDEX_NONE)
            continue;
        f->n_paired++;
        g->to = r->now_anchors.v[r->to.v[i].to].offset;
        g->ambiguous = r->to.v[i].ambiguous && g->to != g->line;
    }
    return 0;
}

static int align_function(struct pgk_line_align *a, struct lists *r, struct pgk_line_func *f,
                          struct pgk_err *err)
{
    r->old = a->groups.v ? a->groups.v + f->first_group : NULL;
    if (!pick(a, r, f))
        return pgk_fail_nomem(err);
    if (f->func == PGK_INDEX_NONE || !f->n_groups)
        return 0;
    if (!list_now(r, &a->build.funcs.v[f->func]))
        return pgk_fail_nomem(err);
    if (in_place(r, f->n_groups) < f->n_groups)
        return align_moved(a, r, f, err);
    for (uint32_t i = 0; i < f->n_groups; i++)
        a->groups.v[f->first_group + i].to = r->old[i].line;
    f->n_paired = f->n_groups;
    return 0;
}

static int align_all(struct pgk_line_align *a, struct pgk_err *err)
{
    struct lists r = {.a = a};
    int status = 0;
    for (uint32_t i = 0; !status && i < a->n_funcs; i++)
        if (a->funcs[i].is_used)
            status = align_function(a, &r, &a->funcs[i], err);
    pgk_vec_free(&r.now);
    pgk_vec_free(&r.old_anchors);
    pgk_vec_free(&r.now_anchors);
    pgk_vec_free(&r.to);
    return status;
}

static int list(struct pgk_line_align *a, const struct pgk_sample *p, struct pgk_err *err)
{
    bool ok = true;
    a->n_funcs = (uint32_t)p->names.list.n;
    a->funcs = pgk_mem_zalloc((size_t)a->n_funcs + 1, sizeof *a->funcs);
    if (!a->funcs)
        return pgk_fail_nomem(err);
    for (uint32_t i = 0; i < a->n_funcs; i++)
        a->funcs[i].func = PGK_INDEX_NONE;
    for (uint32_t n = 1; ok && n < p->nodes.n; n++)
        ok = p->nodes.v[n].flags & PGK_NODE_LOST || list_node(a, p, n);
    for (uint32_t i = 0; ok && a->profiled.funcs.n && i < a->n_funcs; i++)
        ok = !a->funcs[i].is_used || add_profiled(a, i);
    ok = ok && group_calls(a) && pgk_line_find_renamed(a, p);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* Compilers look statics up by names that are unique. */
static bool is_renamed(const struct pgk_line_align *a, const struct pgk_sample_name *n,
                       const struct pgk_line_func *f)
{
    static const char unique[] = ".__uniq.";
    const char *now = pgk_build_text(&a->build, a->build.funcs.v[f->func].linkage);
    if (!n->s || (!strstr(n->s, unique) && !strstr(now, unique)))
        return false;
    size_t len = pgk_sample_drop_suffixes(n->s, n->len);
    return pgk_sample_drop_suffixes(now, strlen(now)) != len || memcmp(n->s, now, len) != 0;
}

static void note_renamed(struct pgk_line_align *a, const struct pgk_sample *p)
{
    for (uint32_t i = 0; i < a->n_funcs; i++)
        if (a->funcs[i].func != PGK_INDEX_NONE)
            a->funcs[i].is_renamed = a->funcs[i].has_new_name ||
                                     is_renamed(a, &p->names.list.v[i], &a->funcs[i]);
}

/* Every program has a main. */
static int check(const struct pgk_line_align *a, struct pgk_err *err)
{
    uint64_t main_guid = pgk_build_guid("main", 4);
    size_t n = 0;
    bool found = false;
    for (uint32_t i = 0; i < a->n_funcs; i++) {
        n += a->funcs[i].is_used;
        found |= a->funcs[i].func != PGK_INDEX_NONE && a->funcs[i].guid != main_guid;
    }
    for (uint32_t i = 0; n == 1 && i < a->n_funcs; i++)
        found |= a->funcs[i].func != PGK_INDEX_NONE;
    return pgk_function_match_check(n, found, err);
}

static int read_build(struct pgk_build *build, struct pgk_binaries *set, bool by_probes,
                      bool lines, struct pgk_err *err)
{
    return by_probes ? pgk_build_read_probes(build, set, err)
                     : pgk_build_read(build, set, lines, err);
}

int pgk_line_align(struct pgk_line_align *a, const struct pgk_sample *profile,
                   struct pgk_binaries *binaries, struct pgk_binaries *profiled,
                   struct pgk_err *err)
{
    a->by_probes = profile->kind.probes;
    if (a->by_probes)
        PGK_TRY(pgk_hashes_of_probes(&a->hashes, binaries, err));
    PGK_TRY(read_build(&a->build, binaries, a->by_probes, true, err));
    if (profiled)
        PGK_TRY(read_build(&a->profiled, profiled, a->by_probes, false, err));
    PGK_TRY(list(a, profile, err));
    PGK_TRY(align_all(a, err));
    note_renamed(a, profile);
    return check(a, err);
}

void pgk_line_align_free(struct pgk_line_align *a)
{
    pgk_build_free(&a->build);
    pgk_build_free(&a->profiled);
    pgk_hashes_free(&a->hashes);
    pgk_vec_free(&a->calls);
    pgk_vec_free(&a->groups);
    pgk_mem_free(a->funcs);
}

/* ---- where lines are ---- */

/* 2: there is code of the line and discriminator; 1: of the line; 0: of neither. */
static unsigned has_code_in(const struct pgk_build *build, uint32_t func, uint32_t line,
                            uint32_t discriminator)
{
    const struct pgk_build_func *f = &build->funcs.v[func];
    const struct pgk_build_place *v = build->places.v + f->first_place;
    PGK_SEARCH(at, f->n_places, mid, v[mid].offset < line)
    unsigned has = at < f->n_places && v[at].offset == line;
    for (; at < f->n_places && v[at].offset == line; at++)
        if (v[at].discriminator == discriminator)
            return 2;
    return has;
}

/* Statics of one name share a profile: what one of them has is there. */
static unsigned has_code(const struct pgk_line_align *a, const struct pgk_line_func *f,
                         uint32_t line, uint32_t discriminator)
{
    unsigned has = has_code_in(&a->build, f->func, line, discriminator);
    uint32_t at = 0;
    for (uint32_t func; has < 2 && (func = pgk_build_next(&a->build, f->guid, &at)) !=
                                       PGK_INDEX_NONE;) {
        unsigned other = has_code_in(&a->build, func, line, discriminator);
        has = other > has ? other : has;
    }
    return has;
}

/* Line 0 lies before the declaration: nothing else of a function does. */
static bool is_line_zero(const struct pgk_line_align *a, const struct pgk_line_func *f,
                         uint32_t line)
{
    uint32_t decl_line = a->build.funcs.v[f->func].decl_line;
    if (a->by_probes)
        return false;
    return line > INT16_MAX || (decl_line && line && pgk_same_offset(line, 0 - decl_line));
}

/* How far the calls around a line have moved, and which of them is nearer. The declaration counts
 * as not moved; after the last call a function continues as long as there is code. */
struct shifts {
    int64_t before, behind;
    uint32_t to_before, to_behind; /* lines between */
    bool has_before, has_behind;
};

static bool has_code_behind(const struct pgk_line_align *a, const struct pgk_line_func *f,
                            uint32_t line)
{
    const struct pgk_build_func *func = &a->build.funcs.v[f->func];
    return func->n_places &&
           a->build.places.v[func->first_place + func->n_places - 1].offset > line;
}

static struct shifts shifts_at(const struct pgk_line_align *a, const struct pgk_line_func *f,
                               uint32_t line)
{
    const struct pgk_line_group *g = a->groups.v ? a->groups.v + f->first_group : NULL;
    struct shifts s = {0};
    PGK_SEARCH(at, f->n_groups, mid, g[mid].line < line)
    for (size_t i = at; i-- > 0 && !s.has_before;) {
        if (g[i].to == PGK_INDEX_NONE)
            continue;
        s.has_before = true;
        s.before = (int64_t)g[i].to - g[i].line;
        s.to_before = line - g[i].line;
    }
    for (size_t i = at; i < f->n_groups && !s.has_behind; i++) {
        if (g[i].to == PGK_INDEX_NONE)
            continue;
        s.has_behind = true;
        s.behind = (int64_t)g[i].to - g[i].line;
        s.to_behind = g[i].line - line;
    }
    if (!s.has_behind) {
        s.has_behind = s.has_before && has_code_behind(a, f, (uint32_t)(line + s.before));
        s.behind = s.before;
        s.to_behind = UINT32_MAX;
    }
    if (!s.has_before)
        s.to_before = line;
    s.has_before = true;
    return s;
}

/* A line without calls moves as the nearer of the calls around it, unless there is code only where
 * the other one would have it. */
static struct pgk_line_found find_between(const struct pgk_line_align *a,
                                          const struct pgk_line_func *f, uint32_t line,
                                          uint32_t discriminator)
{
    struct shifts s = shifts_at(a, f, line);
    bool nearer_before = s.to_before <= s.to_behind;
    int64_t shift = nearer_before ? s.before : s.behind;
    int64_t other = nearer_before ? s.behind : s.before;
    unsigned has = has_code(a, f, (uint32_t)(line + shift) & UINT16_MAX, discriminator);
    unsigned has_other =
        other == shift ? 0 : has_code(a, f, (uint32_t)(line + other) & UINT16_MAX, discriminator);
    if (!has && has_other) {
        shift = other;
        has = has_other;
        has_other = 0;
    }
    struct pgk_line_found found = {PGK_MATCH_FUNCTIONS, (uint32_t)(line + shift) & UINT16_MAX,
                                   has != 0, false};
    if (has && has_other)
        found.level = PGK_MATCH_AMBIGUOUS;
    else if (has)
        found.level = has == 2 && !shift ? PGK_MATCH_EXACT : PGK_MATCH_MOVED;
    else if (!line || (s.has_behind && s.before == s.behind))
        found.level = PGK_MATCH_LINE_ZERO;
    return found;
}

static const struct pgk_line_group *group_at(const struct pgk_line_align *a,
                                             const struct pgk_line_func *f, uint32_t line)
{
    const struct pgk_line_group *g = a->groups.v ? a->groups.v + f->first_group : NULL;
    PGK_SEARCH(at, f->n_groups, mid, g[mid].line < line)
    return at < f->n_groups && g[at].line == line ? &g[at] : NULL;
}

/* A line with calls is where these are. */
static struct pgk_line_found find_line(const struct pgk_line_align *a,
                                       const struct pgk_line_func *f, uint32_t line,
                                       uint32_t discriminator)
{
    if (is_line_zero(a, f, line))
        return (struct pgk_line_found){PGK_MATCH_LINE_ZERO, line, false, true};
    const struct pgk_line_group *g = group_at(a, f, line);
    if (!g || g->to == PGK_INDEX_NONE)
        return find_between(a, f, line, discriminator);
    struct pgk_line_found found = {PGK_MATCH_MOVED, g->to, true, false};
    if (g->ambiguous)
        found.level = PGK_MATCH_AMBIGUOUS;
    else if (g->to == line && has_code(a, f, line, discriminator) == 2)
        found.level = PGK_MATCH_EXACT;
    return found;
}

static struct pgk_line_found find_in(const struct pgk_line_align *a,
                                     const struct pgk_line_func *f, uint64_t loc)
{
    if (f->func == PGK_INDEX_NONE)
        return (struct pgk_line_found){.level = PGK_MATCH_GONE};
    return find_line(a, f, pgk_sample_line(loc), pgk_sample_discriminator(loc));
}

/* Which calls of a function are looked at. */
enum where { AT_LINE, WITHOUT_LINE, ANYWHERE };

/* How the callee was compiled: PGK_HOW_..., at a line of a call by address, like at a call; 0: it
 * is not called there. */
static uint32_t how_at(const struct pgk_line_align *a, const struct pgk_line_func *f,
                       uint64_t callee, enum where where, uint32_t line)
{
    const struct pgk_line_call old = {.callee = callee};
    const struct pgk_build_func *func = &a->build.funcs.v[f->func];
    uint32_t how = 0;
    for (uint32_t i = func->first_call; i < func->first_call + func->n_calls; i++) {
        const struct pgk_build_call *c = &a->build.calls.v[i];
        bool here = where == ANYWHERE || (where == WITHOUT_LINE && !c->line) ||
                    (where == AT_LINE && c->line && (c->offset & UINT16_MAX) == line);
        unsigned least = where == AT_LINE ? ALIKE_PERHAPS : ALIKE_SURELY;
        if (here && same_call(a, &old, c) >= least)
            how |= c->how;
    }
    return how;
}

static struct pgk_line_found find_call_in(const struct pgk_line_align *a,
                                          const struct pgk_line_func *f, uint64_t loc,
                                          uint32_t callee, bool inlined)
{
    uint32_t line = pgk_sample_line(loc);
    if (f->func == PGK_INDEX_NONE || a->funcs[callee].func == PGK_INDEX_NONE)
        return (struct pgk_line_found){.level = PGK_MATCH_GONE};
    const struct pgk_line_group *g = group_at(a, f, line);
    bool wild = is_line_zero(a, f, line);
    struct pgk_line_found found = {.level = PGK_MATCH_FUNCTIONS, .line_zero = wild};
    uint32_t how = 0;
    if (!wild && g && g->to != PGK_INDEX_NONE) {
        found = (struct pgk_line_found){PGK_MATCH_EXACT, g->to, true, false};
        how = how_at(a, f, a->funcs[callee].guid, AT_LINE, g->to);
        if (g->to != line)
            found.level = g->ambiguous ? PGK_MATCH_AMBIGUOUS : PGK_MATCH_MOVED;
    }
    if (!how && how_at(a, f, a->funcs[callee].guid, wild ? ANYWHERE : WITHOUT_LINE, 0))
        return (struct pgk_line_found){PGK_MATCH_LINE_ZERO, line, false, wild};
    if (!how)
        found.level = PGK_MATCH_FUNCTIONS;
    else if (found.level == PGK_MATCH_EXACT &&
             !(how & (inlined ? PGK_HOW_INLINED : PGK_HOW_CALL)))
        found.level = PGK_MATCH_INLINING;
    return found;
}

/* ---- places of nodes ---- */

enum pgk_match_level pgk_line_checksum(const struct pgk_line_align *a, const struct pgk_sample *p,
                                       uint32_t node, uint64_t *now)
{
    const struct pgk_sample_node *n = pgk_sample_node(p, node);
    const struct pgk_sample_name *name = &p->names.list.v[n->name];
    struct pgk_hash_key key = {.guid = pgk_name_guid(name), .hash = n->checksum};
    if (!key.hash) /* callers of contexts without samples of their own */
        key.hash = a->funcs[n->name].checksum;
    if (name->s)
        key.plain = pgk_build_guid(name->s, name->len);
    if (a->funcs[n->name].has_new_name)
        key.guid = a->build.funcs.v[a->funcs[n->name].func].full_guid;
    return pgk_hashes_level(&a->hashes, &key, now);
}

static bool has_checksum(const struct pgk_line_align *a, const struct pgk_sample *p, uint32_t node)
{
    uint64_t now;
    enum pgk_match_level level = pgk_line_checksum(a, p, node, &now);
    return level == PGK_MATCH_EXACT || level == PGK_MATCH_REROUTED;
}

/* A changed function is nowhere exact. If most of its calls are gone, nothing is known; without
 * calls, or with one that cannot be distinguished, the most likely place counts as ambiguous. */
static void judge_changed(const struct pgk_line_func *f, struct pgk_line_found *found)
{
    if (found->level >= PGK_MATCH_AMBIGUOUS)
        return;
    found->level = f->n_paired ? PGK_MATCH_MOVED : PGK_MATCH_AMBIGUOUS;
    if (f->n_paired * 2 < f->n_groups)
        *found = (struct pgk_line_found){.level = PGK_MATCH_FUNCTIONS};
}

/* The same with what else is known of the function of the node. */
static struct pgk_line_found judge(const struct pgk_line_align *a, const struct pgk_sample *p,
                                   uint32_t node, struct pgk_line_found found, uint64_t loc)
{
    const struct pgk_line_func *f = &a->funcs[pgk_sample_node(p, node)->name];
    if (!a->by_probes || found.level == PGK_MATCH_GONE)
        return found;
    if (has_checksum(a, p, node))
        return (struct pgk_line_found){PGK_MATCH_EXACT, pgk_sample_line(loc), true, false};
    judge_changed(f, &found);
    return found;
}

struct pgk_line_found pgk_line_find(const struct pgk_line_align *a, const struct pgk_sample *p,
                                    uint32_t node, uint64_t loc)
{
    const struct pgk_line_func *f = &a->funcs[pgk_sample_node(p, node)->name];
    struct pgk_line_found found = judge(a, p, node, find_in(a, f, loc), loc);
    if (f->is_renamed && found.level < PGK_MATCH_REROUTED)
        found.level = PGK_MATCH_REROUTED;
    return found;
}

struct pgk_line_found pgk_line_find_call(const struct pgk_line_align *a,
                                         const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_node *n = pgk_sample_node(p, node);
    const struct pgk_line_func *f = &a->funcs[pgk_sample_node(p, n->parent)->name];
    struct pgk_line_found found =
        find_call_in(a, f, n->loc, n->name, !(n->flags & PGK_NODE_CONTEXT));
    return judge(a, p, n->parent, found, n->loc);
}
