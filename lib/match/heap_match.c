/* Contexts of a heap profile in another build: the walk over the tree of stacks. */
#include "match_priv.h"

#include "opts.h"
#include "percent.h"

#include <assert.h>
#include <stdlib.h>

const char *pgk_match_level_name(enum pgk_match_level level)
{
    static const char *const names[PGK_MATCH_LEVELS] = {
        [PGK_MATCH_EXACT] = "exact",         [PGK_MATCH_INLINING] = "other inlining",
        [PGK_MATCH_LINE_ZERO] = "line 0",    [PGK_MATCH_MOVED] = "moved",
        [PGK_MATCH_REROUTED] = "rerouted",   [PGK_MATCH_AMBIGUOUS] = "ambiguous",
        [PGK_MATCH_FUNCTIONS] = "functions only", [PGK_MATCH_GONE] = "gone",
    };
    return (unsigned)level < PGK_MATCH_LEVELS ? names[level] : "all";
}

static const struct pgk_frame *frame_of(const struct pgk_match *m, uint32_t stack)
{
    return &m->heap->frames.v[m->heap->stacks.nodes.v[stack].frame];
}

static uint32_t parent_of(const struct pgk_match *m, uint32_t stack)
{
    return m->heap->stacks.nodes.v[stack].parent;
}

/* ---- what the profile knows of functions ---- */

/* Compilers compare 16 bits of offsets, so that is the order of lines. */
static uint64_t order_of(uint64_t where)
{
    return where & (UINT64_C(0xffff) << 32 | UINT32_MAX);
}

static int by_function(const void *a, const void *b)
{
    const struct pgk_old_call *x = a, *y = b;
    if (x->func != y->func)
        return x->func < y->func ? -1 : 1;
    if (order_of(x->where) != order_of(y->where))
        return order_of(x->where) < order_of(y->where) ? -1 : 1;
    if (x->where != y->where)
        return x->where < y->where ? -1 : 1;
    return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static bool note_call(struct pgk_match *m, uint32_t stack, uint32_t callee)
{
    const struct pgk_frame *f = frame_of(m, stack);
    return pgk_vec_push(&m->old_calls, (struct pgk_old_call){f->ref, callee, f->where, true});
}

static void mark_used(struct pgk_match *m, uint32_t stack)
{
    for (; stack && !m->nodes[stack].used; stack = parent_of(m, stack))
        m->nodes[stack].used = true;
}

/* Lists the calls of all contexts by function, each once. */
static int list_calls(struct pgk_match *m, struct pgk_err *err)
{
    const struct pgk_heap *h = m->heap;
    bool ok = true;
    m->first_old_call = pgk_mem_zalloc(h->funcs.n + 1, sizeof *m->first_old_call);
    for (size_t i = 0; ok && i < h->contexts.n; i++) {
        mark_used(m, h->contexts.v[i].stack);
        ok = note_call(m, h->contexts.v[i].stack, PGK_INDEX_NONE);
    }
    for (uint32_t n = 1; ok && n < h->stacks.nodes.n; n++)
        if (m->nodes[n].used && parent_of(m, n))
            ok = note_call(m, parent_of(m, n), frame_of(m, n)->ref);
    ok = ok && m->first_old_call && pgk_match_add_profiled(m);
    if (!ok)
        return pgk_fail_nomem(err);
    size_t kept = 0;
    struct pgk_old_call *v = m->old_calls.v;
    qsort(v, m->old_calls.n, sizeof *v, by_function);
    for (size_t i = 0; i < m->old_calls.n; i++) {
        if (kept && !by_function(&v[kept - 1], &v[i])) {
            v[kept - 1].recorded |= v[i].recorded;
            continue;
        }
        v[kept++] = v[i];
        m->first_old_call[v[i].func + 1] = (uint32_t)kept;
    }
    m->old_calls.n = kept;
    for (size_t f = 0; f < h->funcs.n; f++)
        if (m->first_old_call[f + 1] < m->first_old_call[f])
            m->first_old_call[f + 1] = m->first_old_call[f];
    return 0;
}

/* ---- stacks ---- */

static enum pgk_match_level worse(uint32_t a, uint32_t b)
{
    return (enum pgk_match_level)(a > b ? a : b);
}

/* Looks for a call, of which all but the caller is given, from the frame of a stack. */
static int look_in(struct pgk_match *m, uint32_t stack, struct pgk_match_call call, uint32_t *at,
                   struct pgk_err *err)
{
    const struct pgk_frame *f = frame_of(m, stack);
    call.from = m->nodes[stack].func;
    call.old_func = f->ref;
    call.where = f->where;
    return pgk_match_call(m, &call, at, err);
}

static bool is_found(const struct pgk_match *m, uint32_t call)
{
    return call != PGK_INDEX_NONE && m->calls.v[call].level <= PGK_MATCH_FOUND;
}

static bool is_lost(const struct pgk_match *m, uint32_t stack)
{
    uint32_t call = m->nodes[stack].call;
    return call != PGK_INDEX_NONE && !is_found(m, call);
}

/* A function in which nothing but what was merged called anything is not seen to be inlined. */
static bool may_be_inlined(const struct pgk_match *m, uint32_t call)
{
    if (call == PGK_INDEX_NONE)
        return false;
    return !is_found(m, call) || m->build.calls.v[m->calls.v[call].call].how & PGK_HOW_INLINED;
}

/* As look_in(), with *caller the stack that has it in the build. Merged calls have no line in the
 * function that both were inlined into; the functions that they came from may be missing. So
 * callers are searched, too, up to one whose own place is known. */
static int look_for(struct pgk_match *m, uint32_t stack, struct pgk_match_call call,
                    uint32_t *at, uint32_t *caller, struct pgk_err *err)
{
    *caller = stack;
    PGK_TRY(look_in(m, stack, call, at, err));
    call.merged = true;
    bool found = is_found(m, *at) && !is_lost(m, stack), merged_found = false;
    while (!found && may_be_inlined(m, m->nodes[stack].call)) {
        uint32_t merged;
        stack = m->nodes[stack].caller;
        PGK_TRY(look_in(m, stack, call, &merged, err));
        if (!is_found(m, merged))
            continue;
        found = m->nodes[stack].level <= PGK_MATCH_FOUND;
        if (found || !merged_found) {
            *at = merged;
            *caller = stack;
        }
        merged_found = true;
    }
    return 0;
}

/* The function that the call calls, if that is known. One without calls was folded into another one
 * of the same code. */
static uint32_t callee_of(const struct pgk_match *m, const struct pgk_match_call *c)
{
    if (c->level > PGK_MATCH_FOUND)
        return PGK_INDEX_NONE;
    uint32_t call = c->via != PGK_INDEX_NONE ? c->via : c->call;
    uint32_t callee = m->build.calls.v[call].callee;
    if (pgk_match_calls(m, call, c->callee) != PGK_CALLS_SURELY)
        return PGK_INDEX_NONE;
    return m->build.funcs.v[callee].n_calls ? callee : PGK_INDEX_NONE;
}

/* A function that is not there by its name may have another one, if its caller says so, or its
 * file. */
static bool look_for_renamed(struct pgk_match *m, uint32_t caller, uint32_t old_func)
{
    bool gone = m->first_candidate[old_func] == m->first_candidate[old_func + 1];
    if (gone && m->renamed[old_func] == PGK_INDEX_NONE)
        m->renamed[old_func] = pgk_match_renamed(m, m->nodes[caller].func, old_func);
    if (!gone || m->renamed[old_func] != PGK_INDEX_NONE || m->looked_in_file[old_func])
        return true;
    m->looked_in_file[old_func] = true;
    return pgk_match_renamed_in_file(m, old_func, &m->renamed[old_func]);
}

static bool calls_itself(const struct pgk_match *m, uint32_t func)
{
    const struct pgk_build_func *f = &m->build.funcs.v[func];
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++)
        if (m->build.calls.v[i].callee == func)
            return true;
    return false;
}

/* gcc parts functions in two, and the first part calls the second one, often from the line where
 * the function begins; compilers make a loop of a function that calls itself last. Compiled
 * otherwise, such a function has no call of itself. */
static bool is_same_call(const struct pgk_match *m, uint32_t stack, uint32_t parent)
{
    const struct pgk_frame *caller = frame_of(m, parent);
    return frame_of(m, stack)->ref == caller->ref &&
           (!pgk_place_offset(caller->where) || !calls_itself(m, m->nodes[parent].func));
}

static void join_parts(struct pgk_match *m, uint32_t stack, uint32_t parent)
{
    struct pgk_match_node *n = &m->nodes[stack];
    *n = m->nodes[parent];
    n->base = stack;
    n->level = worse(n->level, PGK_MATCH_INLINING);
}

/* Finds the frame on top of a stack. If its function is gone, its calls are searched in the
 * function that called it. */
static int match_node(struct pgk_match *m, uint32_t stack, struct pgk_err *err)
{
    struct pgk_match_node *n = &m->nodes[stack];
    const struct pgk_frame *f = frame_of(m, stack);
    uint32_t parent = parent_of(m, stack), base = m->nodes[parent].base;
    bool ambiguous = false;
    *n = (struct pgk_match_node){PGK_INDEX_NONE, PGK_INDEX_NONE, stack, base, PGK_MATCH_EXACT,
                                 true};
    if (base) {
        if (!look_for_renamed(m, base, f->ref))
            return pgk_fail_nomem(err);
        struct pgk_match_call call = {.callee = f->ref,
                                      .inlined = f->kind == PGK_FRAME_INLINED,
                                      .past_gone = base != parent};
        PGK_TRY(look_for(m, base, call, &n->call, &n->caller, err));
        const struct pgk_match_call *c = &m->calls.v[n->call];
        if (c->level > PGK_MATCH_FOUND && base == parent && is_same_call(m, stack, parent)) {
            join_parts(m, stack, parent);
            return 0;
        }
        n->level = worse(m->nodes[n->caller].level, c->level);
        n->func = callee_of(m, c);
        if (base != parent && c->level <= PGK_MATCH_AMBIGUOUS) {
            n->level = worse(n->level, PGK_MATCH_REROUTED);
        } else if (base != parent) {
            n->level = worse(m->nodes[parent].level, c->level);
            n->call = PGK_INDEX_NONE;
        }
    } else if (parent) {
        n->level = PGK_MATCH_GONE; /* none of its callers is there */
    }
    if (n->func == PGK_INDEX_NONE)
        n->func = pgk_match_pick(m, f->ref, f->where, &ambiguous);
    n->unsure = ambiguous;
    if (ambiguous)
        n->level = worse(n->level, PGK_MATCH_AMBIGUOUS);
    if (n->func == PGK_INDEX_NONE) {
        n->base = base;
        n->level = PGK_MATCH_GONE;
    } else if (base && !m->build.funcs.v[n->func].n_calls) {
        n->base = base; /* merged with calls of its caller */
        n->func = PGK_INDEX_NONE;
        n->level = worse(n->level, PGK_MATCH_FUNCTIONS);
    }
    return 0;
}

static int match_context(struct pgk_match *m, size_t context, struct pgk_err *err)
{
    uint32_t stack = m->heap->contexts.v[context].stack, base = m->nodes[stack].base;
    m->leaf_call[context] = PGK_INDEX_NONE;
    m->level[context] = PGK_MATCH_GONE;
    if (!base)
        return 0;
    struct pgk_match_call call = {.callee = PGK_INDEX_NONE, .past_gone = base != stack};
    PGK_TRY(look_for(m, base, call, &m->leaf_call[context], &m->leaf_caller[context], err));
    const struct pgk_match_call *c = &m->calls.v[m->leaf_call[context]];
    enum pgk_match_level level = worse(m->nodes[m->leaf_caller[context]].level, c->level);
    if (base != stack && c->level <= PGK_MATCH_AMBIGUOUS) {
        level = worse(level, PGK_MATCH_REROUTED);
    } else if (base != stack) {
        level = worse(m->nodes[stack].level, c->level);
        m->leaf_call[context] = PGK_INDEX_NONE;
    }
    m->level[context] = (uint8_t)level;
    return 0;
}

/* ---- what it adds up to ---- */

static void add_to(const struct pgk_match *m, size_t context, struct pgk_match_totals *t)
{
    const struct pgk_heap_context *c = &m->heap->contexts.v[context];
    t->contexts++;
    t->bytes += pgk_context_value(m->heap, c, PGK_MIB_TotalSize);
    t->accesses += pgk_context_value(m->heap, c, PGK_MIB_TotalAccessCount);
}

static void add_totals(struct pgk_match *m, size_t context)
{
    add_to(m, context, &m->totals[m->level[context]]);
    add_to(m, context, &m->totals[PGK_MATCH_LEVELS]);
    bool likeliest;
    if (m->level[context] <= PGK_MATCH_FOUND ||
        !pgk_match_inner_stack(m, context, NULL, 0, &likeliest))
        return;
    add_to(m, context, &m->shortened);
    if (likeliest)
        add_to(m, context, &m->likeliest);
}

/* Each call of a context gets its weight, once. `last` is by call: the context that gave it
 * last. */
static void weigh_calls(struct pgk_match *m, size_t context, uint32_t *last)
{
    const struct pgk_heap_context *c = &m->heap->contexts.v[context];
    uint64_t bytes = pgk_context_value(m->heap, c, PGK_MIB_TotalSize);
    uint32_t call = m->leaf_call[context], stack = c->stack;
    for (;; call = m->nodes[stack].call, stack = parent_of(m, stack)) {
        if (call != PGK_INDEX_NONE && last[call] != context + 1) {
            last[call] = (uint32_t)context + 1;
            m->calls.v[call].contexts++;
            m->calls.v[call].bytes += bytes;
        }
        if (!stack)
            break;
    }
}

static int by_weight(const void *a, const void *b, void *calls)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct pgk_match_call *x = (const struct pgk_match_call *)calls + i,
                                *y = (const struct pgk_match_call *)calls + j;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->contexts != y->contexts)
        return x->contexts > y->contexts ? -1 : 1;
    return i < j ? -1 : i > j;
}

static int rank_changes(struct pgk_match *m, struct pgk_err *err)
{
    for (uint32_t i = 0; i < m->calls.n; i++)
        if (m->calls.v[i].level != PGK_MATCH_EXACT && m->calls.v[i].contexts &&
            !pgk_vec_push(&m->changes, i))
            return pgk_fail_nomem(err);
    if (m->changes.n)
        qsort_r(m->changes.v, m->changes.n, sizeof *m->changes.v, by_weight, m->calls.v);
    return 0;
}

static int add_up(struct pgk_match *m, struct pgk_err *err)
{
    uint32_t *last = pgk_mem_zalloc(m->calls.n + 1, sizeof *last);
    if (!last)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < m->heap->contexts.n; i++) {
        add_totals(m, i);
        weigh_calls(m, i, last);
    }
    pgk_mem_free(last);
    return rank_changes(m, err);
}

/* ---- the whole ---- */

static int check_heap(const struct pgk_heap *h, struct pgk_err *err)
{
    if (!h->contexts.n)
        return pgk_fail(err, PGK_E_EMPTY, .field = "contexts", .found = "none",
                        .expected = "a heap profile with contexts");
    for (size_t i = 0; i < h->frames.n; i++)
        if (h->frames.v[i].kind == PGK_FRAME_ADDRESS)
            return pgk_fail(err, PGK_E_ARG, .field = "frames", .found = "addresses",
                            .expected = "places in functions, which the profiled program gives");
    return 0;
}

static int match(struct pgk_match *m, struct pgk_binaries *binaries,
                 struct pgk_binaries *profiled, struct pgk_err *err)
{
    const struct pgk_heap *h = m->heap;
    PGK_TRY(pgk_build_read(&m->build, binaries, false, err));
    PGK_TRY(pgk_match_functions(m, err));
    if (profiled)
        PGK_TRY(pgk_build_read(&m->profiled, profiled, false, err));
    m->nodes = pgk_mem_zalloc(h->stacks.nodes.n, sizeof *m->nodes);
    m->leaf_call = pgk_mem_alloc(h->contexts.n, sizeof *m->leaf_call);
    m->leaf_caller = pgk_mem_zalloc(h->contexts.n, sizeof *m->leaf_caller);
    m->level = pgk_mem_alloc(h->contexts.n, sizeof *m->level);
    m->looked_in_file = pgk_mem_zalloc(h->funcs.n + 1, sizeof *m->looked_in_file);
    if (!m->nodes || !m->leaf_call || !m->leaf_caller || !m->level || !m->looked_in_file)
        return pgk_fail_nomem(err);
    PGK_TRY(list_calls(m, err));
    m->nodes[0].call = PGK_INDEX_NONE;
    for (uint32_t n = 1; n < h->stacks.nodes.n; n++)
        if (m->nodes[n].used)
            PGK_TRY(match_node(m, n, err));
    for (size_t i = 0; i < h->contexts.n; i++)
        PGK_TRY(match_context(m, i, err));
    return add_up(m, err);
}

int pgk_match_heap(struct pgk_match **into, const struct pgk_heap *heap,
                   struct pgk_binaries *binaries, const struct pgk_match_opts *given,
                   struct pgk_err *err)
{
    struct pgk_match_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    PGK_TRY(check_heap(heap, err));
    struct pgk_match *m = pgk_mem_zalloc(1, sizeof *m);
    if (!m)
        return pgk_fail_nomem(err);
    m->heap = heap;
    int status = match(m, binaries, opts.profiled, err);
    if (status)
        pgk_match_close(&m);
    else
        *into = m;
    return status;
}

void pgk_match_close(struct pgk_match **match)
{
    struct pgk_match *m = *match;
    if (!m)
        return;
    *match = NULL;
    pgk_build_free(&m->build);
    pgk_build_free(&m->profiled);
    pgk_vec_free(&m->calls);
    pgk_index_free(&m->call_index);
    pgk_mem_free(m->nodes);
    pgk_mem_free(m->leaf_call);
    pgk_mem_free(m->leaf_caller);
    pgk_mem_free(m->level);
    pgk_vec_free(&m->candidates);
    pgk_mem_free(m->first_candidate);
    pgk_mem_free(m->renamed);
    pgk_mem_free(m->known);
    pgk_mem_free(m->looked_in_file);
    pgk_vec_free(&m->in_files);
    pgk_vec_free(&m->old_calls);
    pgk_mem_free(m->first_old_call);
    pgk_vec_free(&m->pairs);
    pgk_index_free(&m->pair_index);
    pgk_vec_free(&m->aligned);
    pgk_vec_free(&m->places);
    pgk_vec_free(&m->groups);
    pgk_vec_free(&m->changes);
    pgk_mem_free(m);
}

void pgk_match_totals(const struct pgk_match *match, enum pgk_match_level level,
                      struct pgk_match_totals *totals)
{
    assert((unsigned)level <= PGK_MATCH_LEVELS);
    PGK_RESULT_GIVE(totals, &match->totals[level]);
}

double pgk_match_percent(const struct pgk_match *match)
{
    const struct pgk_match_totals *all = &match->totals[PGK_MATCH_LEVELS];
    uint64_t bytes = 0, contexts = 0;
    for (unsigned level = 0; level <= PGK_MATCH_FOUND; level++) {
        bytes += match->totals[level].bytes;
        contexts += match->totals[level].contexts;
    }
    return all->bytes ? pgk_percent((double)bytes, all->bytes)
                      : pgk_percent((double)contexts, all->contexts);
}

enum pgk_match_level pgk_match_level(const struct pgk_match *match, size_t context)
{
    assert(context < match->heap->contexts.n);
    return (enum pgk_match_level)match->level[context];
}
