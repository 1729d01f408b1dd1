/* Contexts in terms of the other build: their stacks there, and what has changed. */
#include "match_priv.h"

#include "opts.h"

#include <assert.h>

/* Walks the calls of a context, leaf first, up to the first that was not found. */
struct walk {
    const struct pgk_match *m;
    uint32_t call;   /* of m->calls; PGK_INDEX_NONE: at the end */
    uint32_t stack;  /* whose frame makes the call */
    bool at_via;     /* the function between is next */
    size_t likeliest; /* calls that are taken for the likeliest of several, while there are fewer */
    size_t n;         /* calls so far */
};

static bool goes_on(const struct walk *w, uint32_t call, uint32_t stack)
{
    if (call == PGK_INDEX_NONE || w->m->nodes[stack].unsure)
        return false;
    uint8_t level = w->m->calls.v[call].level;
    return level <= PGK_MATCH_FOUND || (level == PGK_MATCH_AMBIGUOUS && w->n < w->likeliest);
}

static void walk_to(struct walk *w, uint32_t call, uint32_t stack)
{
    w->call = goes_on(w, call, stack) ? call : PGK_INDEX_NONE;
    w->stack = stack;
    w->at_via =
        w->call != PGK_INDEX_NONE && w->m->calls.v[w->call].via != PGK_INDEX_NONE;
}

static struct walk walk_begin(const struct pgk_match *m, size_t context, size_t likeliest)
{
    struct walk w = {.m = m, .likeliest = likeliest};
    walk_to(&w, m->leaf_call[context], m->leaf_caller[context]);
    return w;
}

/* The next call of the build, or PGK_INDEX_NONE; *was_inlined says how the profile has it. */
static uint32_t walk_next(struct walk *w, bool *was_inlined)
{
    const struct pgk_match *m = w->m;
    if (w->call == PGK_INDEX_NONE)
        return PGK_INDEX_NONE;
    const struct pgk_match_call *c = &m->calls.v[w->call];
    *was_inlined = c->inlined;
    w->n++;
    if (w->at_via) {
        w->at_via = false;
        return c->via;
    }
    walk_to(w, m->nodes[w->stack].call, m->nodes[w->stack].caller);
    return c->call;
}

static struct pgk_heap_frame frame_at(const struct pgk_match *m, const struct pgk_build_call *c)
{
    const struct pgk_build_func *f = &m->build.funcs.v[c->func];
    return (struct pgk_heap_frame){
        .guid = f->full_guid,
        .function = pgk_build_text(&m->build, f->linkage),
        .file = pgk_build_text(&m->build, f->path),
        .decl_line = f->decl_line,
        .line_offset = c->offset,
        .column = c->column,
    };
}

/* The function of the frame before is inlined if its call is; where it is both, as it was. */
static bool is_inlined(const struct pgk_build_call *c, bool was_inlined)
{
    if (!(c->how & PGK_HOW_CALL))
        return true;
    return c->how & PGK_HOW_INLINED && was_inlined;
}

static size_t walk_stack(const struct pgk_match *m, size_t context, size_t likeliest,
                         struct pgk_heap_frame *frames, size_t max)
{
    struct walk w = walk_begin(m, context, likeliest);
    bool was_inlined;
    for (uint32_t at; (at = walk_next(&w, &was_inlined)) != PGK_INDEX_NONE;) {
        const struct pgk_build_call *c = &m->build.calls.v[at];
        size_t n = w.n - 1;
        if (n && n <= max)
            frames[n - 1].inlined = is_inlined(c, was_inlined);
        if (n < max)
            frames[n] = frame_at(m, c);
    }
    return w.n;
}

size_t pgk_match_stack(const struct pgk_match *match, size_t context,
                       struct pgk_heap_frame *frames, size_t max)
{
    assert(context < match->heap->contexts.n);
    return match->level[context] > PGK_MATCH_FOUND ? 0
                                                   : walk_stack(match, context, 0, frames, max);
}

size_t pgk_match_inner_stack(const struct pgk_match *m, size_t context,
                             struct pgk_heap_frame *frames, size_t max, bool *likeliest)
{
    enum { LEAST = 2 };
    size_t n = walk_stack(m, context, 0, frames, max);
    *likeliest = n < LEAST;
    if (*likeliest)
        n = walk_stack(m, context, LEAST, frames, max);
    return n < LEAST ? 0 : n;
}

/* ---- what has changed ---- */

size_t pgk_match_changes(const struct pgk_match *match)
{
    return match->changes.n;
}

static void put_now(const struct pgk_match *m, uint32_t call, struct pgk_match_change *into)
{
    const struct pgk_build_call *c = &m->build.calls.v[call];
    const struct pgk_build_func *f = &m->build.funcs.v[c->func];
    into->has_now = true;
    into->now_file = pgk_build_text(&m->build, f->file);
    into->now_line = c->line;
    into->now_line_offset = c->offset;
    into->now_column = c->column;
    into->now_callee = "";
    if (c->callee != PGK_INDEX_NONE)
        into->now_callee = pgk_build_text(&m->build, m->build.funcs.v[c->callee].linkage);
}

/* A profile need not know the names of its functions: GUIDs are all that LLVM's formats have. */
static const char *name_of(const struct pgk_match *m, uint32_t old_func)
{
    const struct pgk_heap_func *old = &m->heap->funcs.v[old_func];
    uint32_t first = m->first_candidate[old_func];
    if (old->name || first == m->first_candidate[old_func + 1])
        return pgk_intern_str(&m->heap->strings, old->name);
    return pgk_build_text(&m->build, m->build.funcs.v[m->candidates.v[first]].linkage);
}

void pgk_match_change(const struct pgk_match *match, size_t position,
                      struct pgk_match_change *change)
{
    assert(position < match->changes.n);
    const struct pgk_match_call *c = &match->calls.v[match->changes.v[position]];
    const struct pgk_heap_func *old = &match->heap->funcs.v[c->old_func];
    const struct pgk_build_func *from = &match->build.funcs.v[c->from];
    bool is_zero = pgk_match_is_line_zero(match, c->from, c->where);
    struct pgk_match_change r = {
        .level = (enum pgk_match_level)c->level,
        .contexts = c->contexts,
        .bytes = c->bytes,
        .guid = old->guid,
        .caller = name_of(match, c->old_func),
        .file = old->file ? pgk_intern_str(&match->heap->strings, old->file)
                          : pgk_build_text(&match->build, from->file),
        .line_offset = pgk_place_offset(c->where),
        .column = (uint32_t)c->where,
        .line = old->decl_line && !is_zero ? old->decl_line + pgk_place_offset(c->where) : 0,
        .line_zero = is_zero,
        .inlined = c->inlined,
        .renamed = c->renamed,
        .now_file = "",
        .now_callee = "",
    };
    if (c->callee != PGK_INDEX_NONE) {
        r.callee = name_of(match, c->callee);
        r.callee_guid = match->heap->funcs.v[c->callee].guid;
    }
    if (c->call != PGK_INDEX_NONE)
        put_now(match, c->call, &r);
    PGK_RESULT_GIVE(change, &r);
}
