/* Callers that tail calls hide. docs/formats/profile-generation.md section 7 */
#include "missing_frames.h"

#include "hash.h"
#include "search.h"

#include <stdlib.h>

static int compare_calls(const void *a, const void *b)
{
    const struct pgk_call_edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static int compare_tail_calls(const void *a, const void *b)
{
    const struct pgk_call_edge *x = a, *y = b;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return compare_calls(a, b);
}

static void make_set(pgk_edge_vec *v, int (*compare)(const void *a, const void *b))
{
    size_t kept = 0;
    if (v->n)
        qsort(v->v, v->n, sizeof *v->v, compare);
    for (size_t i = 0; i < v->n; i++)
        if (!kept || compare(&v->v[kept - 1], &v->v[i]))
            v->v[kept++] = v->v[i];
    v->n = kept;
}

static bool add_edge(struct pgk_missing_frames *m, struct pgk_code *code,
                     const struct pgk_call_count *b)
{
    const struct pgk_function_range *from = pgk_functions_at(m->functions, b->from);
    const struct pgk_function_range *to = pgk_functions_at(m->functions, b->to);
    if (!from || !to)
        return true;
    uint8_t mark = pgk_code_mark(code, b->from);
    struct pgk_call_edge edge = {b->from, from->function, to->function};
    if (pgk_code_kind(mark) == PGK_INSN_CALL)
        return pgk_vec_push(&m->calls, edge);
    bool leaves = mark & PGK_CODE_INDIRECT ? from != to : from->function != to->function;
    if (pgk_code_kind(mark) != PGK_INSN_JUMP || !leaves)
        return true;
    m->is_tail_called[to->function] = true;
    return pgk_vec_push(&m->tail_calls, edge);
}

int pgk_missing_frames_open(struct pgk_missing_frames *m, const struct pgk_functions *functions,
                            struct pgk_code *code, const struct pgk_call_counts *branches,
                            struct pgk_err *err)
{
    *m = (struct pgk_missing_frames){.functions = functions};
    m->is_tail_called = pgk_mem_zalloc(functions->functions.n + 1, sizeof *m->is_tail_called);
    if (!m->is_tail_called)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < branches->list.n; i++)
        if (!add_edge(m, code, &branches->list.v[i]))
            return pgk_fail_nomem(err);
    make_set(&m->calls, compare_calls);
    make_set(&m->tail_calls, compare_tail_calls);
    return 0;
}

void pgk_missing_frames_close(struct pgk_missing_frames *m)
{
    pgk_vec_free(&m->calls);
    pgk_vec_free(&m->tail_calls);
    pgk_mem_free(m->is_tail_called);
    pgk_vec_free(&m->paths);
    pgk_index_free(&m->index);
    pgk_vec_free(&m->jumps);
}

/* ---- the search ---- */

enum { MAX_DEPTH = 64, MAX_STEPS = 100000 };

struct search {
    const struct pgk_missing_frames *m;
    uint32_t to;
    unsigned found, steps;
    size_t depth;
    struct {
        uint32_t function;
        uint64_t jump;
    } path[MAX_DEPTH]; /* so far */
    size_t n_first;
    uint64_t first[MAX_DEPTH]; /* jumps of the first path found */
};

static size_t first_of(const pgk_edge_vec *v, uint32_t caller)
{
    PGK_SEARCH(low, v->n, mid, v->v[mid].caller < caller)
    return low;
}

static bool is_on_path(const struct search *s, uint32_t function)
{
    for (size_t i = 0; i < s->depth; i++)
        if (s->path[i].function == function)
            return true;
    return false;
}

/* More than one path is as good as none, and so is a search without an end. */
static void search_from(struct search *s, uint32_t function)
{
    if (++s->steps > MAX_STEPS)
        s->found = 2;
    if (function == s->to) {
        if (!s->found++)
            for (s->n_first = 0; s->n_first < s->depth; s->n_first++)
                s->first[s->n_first] = s->path[s->n_first].jump;
        return;
    }
    if (s->depth == MAX_DEPTH || is_on_path(s, function))
        return;
    const pgk_edge_vec *v = &s->m->tail_calls;
    s->path[s->depth++].function = function;
    for (size_t i = first_of(v, function);
         i < v->n && v->v[i].caller == function && s->found < 2; i++) {
        s->path[s->depth - 1].jump = v->v[i].from;
        search_from(s, v->v[i].callee);
    }
    s->depth--;
}

static size_t first_call(const pgk_edge_vec *v, uint64_t from)
{
    PGK_SEARCH(low, v->n, mid, v->v[mid].from < from)
    return low;
}

/* Nothing is missing if the call was seen to enter the function. */
static void find_path(struct search *s, uint64_t call)
{
    const pgk_edge_vec *calls = &s->m->calls;
    size_t first = first_call(calls, call);
    for (size_t i = first; i < calls->n && calls->v[i].from == call; i++)
        if (calls->v[i].callee == s->to)
            return;
    for (size_t i = first; i < calls->n && calls->v[i].from == call && s->found < 2; i++)
        search_from(s, calls->v[i].callee);
    if (s->found != 1)
        s->n_first = 0;
}

static bool append(pgk_addr_vec *into, const uint64_t *v, size_t n)
{
    if (!pgk_vec_reserve(into, n))
        return false;
    if (n)
        memcpy(into->v + into->n, v, n * sizeof *v);
    into->n += n;
    return true;
}

bool pgk_missing_frames_add(struct pgk_missing_frames *m, uint64_t call, uint64_t addr,
                            pgk_addr_vec *into)
{
    const struct pgk_function_range *to = pgk_functions_at(m->functions, addr);
    if (!to || !m->is_tail_called[to->function])
        return true;
    uint64_t hash = pgk_hash_pair(call, to->function);
    PGK_INDEX_FOR (&m->index, hash, i)
        if (m->paths.v[i].call == call && m->paths.v[i].function == to->function)
            return append(into, m->jumps.v + m->paths.v[i].first, m->paths.v[i].n);
    struct search s = {.m = m, .to = to->function};
    find_path(&s, call);
    struct pgk_missing_path path = {call, to->function, (uint32_t)m->jumps.n, (uint32_t)s.n_first};
    return append(&m->jumps, s.first, s.n_first) && pgk_vec_push(&m->paths, path) &&
           pgk_index_add(&m->index, hash, (uint32_t)m->paths.n - 1) &&
           append(into, s.first, s.n_first);
}
