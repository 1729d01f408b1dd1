/* One call of a profile, looked for in a function of another build. */
#include "match_priv.h"

#include "hash.h"

/* Functions that end in a jump to another one leave no frame; chains of them are short. */
enum { MAX_JUMPS = 3 };

static bool is_candidate(const struct pgk_match *m, uint32_t func, uint32_t old_func)
{
    const struct pgk_build_func *f = &m->build.funcs.v[func];
    if (m->renamed[old_func] == func)
        return true;
    for (uint32_t i = m->first_candidate[old_func]; i < m->first_candidate[old_func + 1]; i++)
        if (m->candidates.v[i] == func ||
            (!f->has_body && pgk_build_same(&m->build, m->candidates.v[i], func)))
            return true;
    return false;
}

static bool jumps_to(const struct pgk_match *m, uint32_t func, uint32_t callee, unsigned jumps);

static enum pgk_calls calls(const struct pgk_match *m, uint32_t call, uint32_t callee,
                            unsigned jumps)
{
    uint32_t func = m->build.calls.v[call].callee;
    if (callee == PGK_OLD_BY_ADDRESS)
        return func == PGK_INDEX_NONE ? PGK_CALLS_SURELY : PGK_CALLS_NOT;
    if (func == PGK_INDEX_NONE)
        return PGK_CALLS_ADDRESS;
    const struct pgk_build_func *f = &m->build.funcs.v[func];
    if (callee != PGK_INDEX_NONE && callee >= m->heap->funcs.n)
        return pgk_build_same_name(&m->profiled.funcs.v[callee - m->heap->funcs.n], f)
                   ? PGK_CALLS_SURELY
                   : PGK_CALLS_NOT;
    if (callee == PGK_INDEX_NONE ? f->allocates : is_candidate(m, func, callee))
        return PGK_CALLS_SURELY;
    if (!f->has_body)
        return PGK_CALLS_ELSEWHERE;
    return jumps && jumps_to(m, func, callee, jumps) ? PGK_CALLS_ADDRESS : PGK_CALLS_NOT;
}

static bool jumps_to(const struct pgk_match *m, uint32_t func, uint32_t callee, unsigned jumps)
{
    const struct pgk_build_func *f = &m->build.funcs.v[func];
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++)
        if (m->build.calls.v[i].how & PGK_HOW_TAIL &&
            calls(m, i, callee, jumps - 1) == PGK_CALLS_SURELY)
            return true;
    return false;
}

enum pgk_calls pgk_match_calls(const struct pgk_match *m, uint32_t call, uint32_t callee)
{
    return calls(m, call, callee, MAX_JUMPS);
}

/* Line 0 lies before the declaration; offsets have 16 bits where a file holds these alone. Nothing
 * else of a function stands there. */
bool pgk_match_is_line_zero(const struct pgk_match *m, uint32_t func, uint64_t where)
{
    uint32_t offset = pgk_place_offset(where);
    uint32_t decl_line = m->build.funcs.v[func].decl_line;
    return offset > INT32_MAX || (offset > INT16_MAX && offset <= UINT16_MAX) ||
           (decl_line && offset && pgk_same_offset(offset, 0 - decl_line));
}

/* ---- at its place ---- */

struct found {
    uint32_t call;
    unsigned rank;
};

static bool compiled_alike(const struct pgk_match_call *key, const struct pgk_build_call *c)
{
    return key->callee == PGK_INDEX_NONE ||
           (c->how & (key->inlined ? PGK_HOW_INLINED : PGK_HOW_CALL)) != 0;
}

/* Among several calls the more certain one, then the one compiled alike, then the first. */
static void consider(const struct pgk_match *m, const struct pgk_match_call *key, uint32_t call,
                     struct found *best)
{
    unsigned sure = pgk_match_calls(m, call, key->callee);
    unsigned rank = sure * 2 + compiled_alike(key, &m->build.calls.v[call]);
    if (sure && rank > best->rank)
        *best = (struct found){call, rank};
}

static bool is_sure(const struct found *f)
{
    return f->rank >= PGK_CALLS_SURELY * 2;
}

/* Looks at the place itself, at code without a line, and at all calls of the function. Where not
 * more is known of the callee than that it is elsewhere, a call that surely is meant is better. */
static bool find_at_place(const struct pgk_match *m, struct pgk_match_call *key)
{
    const struct pgk_build_func *f = &m->build.funcs.v[key->from];
    struct found exact = {0}, zero = {0}, any = {0};
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++) {
        const struct pgk_build_call *c = &m->build.calls.v[i];
        consider(m, key, i, &any);
        if (!c->line)
            consider(m, key, i, &zero);
        else if (pgk_same_offset(c->offset, pgk_place_offset(key->where)) &&
                 pgk_same_column(c->column, (uint32_t)key->where))
            consider(m, key, i, &exact);
    }
    if (key->merged)
        exact = any = zero;
    bool wild = key->merged || pgk_match_is_line_zero(m, key->from, key->where);
    const struct found *best = wild ? is_sure(&zero) ? &zero : &any : exact.rank ? &exact : &zero;
    if (!wild && best == &exact && !is_sure(&exact) && is_sure(&zero))
        best = &zero;
    if (!best->rank || (key->merged && !is_sure(best)) ||
        (!is_sure(best) && is_sure(&any)))
        return false;
    key->call = best->call;
    const struct pgk_build_call *c = &m->build.calls.v[best->call];
    if (key->merged || wild != !c->line)
        key->level = PGK_MATCH_LINE_ZERO;
    else
        key->level = compiled_alike(key, c) ? PGK_MATCH_EXACT : PGK_MATCH_INLINING;
    return true;
}

/* ---- moved ---- */

struct alignment {
    const struct pgk_match *m;
    const struct pgk_old_call *old;
    const struct pgk_call_group *runs, *groups; /* of both sides, by place */
    const bool *has_sure; /* by place; NULL: not known yet */
};

static enum pgk_calls best_of(const struct alignment *a, size_t i, size_t j)
{
    enum pgk_calls best = PGK_CALLS_NOT;
    for (uint32_t o = a->runs[i].first; o < a->runs[i].end; o++) {
        for (uint32_t c = a->groups[j].first; c < a->groups[j].end; c++) {
            enum pgk_calls sure = pgk_match_calls(a->m, c, a->old[o].callee);
            best = sure > best ? sure : best;
        }
    }
    return best;
}

static unsigned alike(void *ctx, size_t i, size_t j)
{
    const struct alignment *a = ctx;
    enum pgk_calls sure = best_of(a, i, j);
    if (sure == PGK_CALLS_SURELY)
        return 2;
    return sure && !a->has_sure[i];
}

/* The data of one alignment, by place. */
struct lists {
    PGK_VEC(struct pgk_anchor) old, now;
    PGK_VEC(struct pgk_call_group) runs; /* of calls of the profile */
    bool *has_sure;
};

/* Places of the profile. Those without a line cannot move. */
static bool list_old(struct pgk_match *m, const struct pgk_func_pair *p, struct lists *r)
{
    bool ok = true;
    for (uint32_t i = m->first_old_call[p->old_func];
         ok && i < m->first_old_call[p->old_func + 1]; i++) {
        uint64_t where = m->old_calls.v[i].where;
        uint32_t offset = pgk_place_offset(where) & UINT16_MAX, column = (uint32_t)where;
        if (pgk_match_is_line_zero(m, p->func, where))
            continue;
        if (r->old.n && m->places.v[m->places.n - 1] == where) {
            r->runs.v[r->runs.n - 1].end = i + 1;
            r->old.v[r->old.n - 1].several = true;
            continue;
        }
        ok = pgk_vec_push(&m->places, where) &&
             pgk_vec_push(&r->runs, (struct pgk_call_group){i, i + 1}) &&
             pgk_vec_push(&r->old, (struct pgk_anchor){offset, column, false});
    }
    return ok;
}

static bool list_now(struct pgk_match *m, const struct pgk_func_pair *p, struct lists *r)
{
    const struct pgk_build_func *f = &m->build.funcs.v[p->func];
    bool ok = true;
    for (uint32_t i = f->first_call; ok && i < f->first_call + f->n_calls; i++) {
        const struct pgk_build_call *c = &m->build.calls.v[i], *before = c - 1;
        if (!c->line)
            continue;
        if (r->now.n && c->line == before->line && c->column == before->column) {
            m->groups.v[m->groups.n - 1].end = i + 1;
            r->now.v[r->now.n - 1].several |= c->callee != before->callee;
            continue;
        }
        ok = pgk_vec_push(&m->groups, (struct pgk_call_group){i, i + 1}) &&
             pgk_vec_push(&r->now, (struct pgk_anchor){c->offset & UINT16_MAX, c->column, false});
    }
    return ok;
}

static int align(struct pgk_match *m, const struct pgk_func_pair *p, struct lists *r,
                 struct pgk_err *err)
{
    size_t first_group = m->groups.n;
    if (!list_old(m, p, r) || !list_now(m, p, r) || !pgk_vec_reserve(&m->aligned, r->old.n))
        return pgk_fail_nomem(err);
    r->has_sure = pgk_mem_zalloc(r->old.n + 1, sizeof *r->has_sure);
    if (!r->has_sure)
        return pgk_fail_nomem(err);
    struct alignment a = {m, m->old_calls.v, r->runs.v, m->groups.v + first_group,
                          r->has_sure};
    for (size_t i = 0; i < r->old.n; i++)
        for (size_t j = 0; j < r->now.n && !r->has_sure[i]; j++)
            r->has_sure[i] = best_of(&a, i, j) == PGK_CALLS_SURELY;
    struct pgk_aligned *to = m->aligned.v + m->aligned.n;
    PGK_TRY(pgk_calls_align(r->old.v, r->old.n, r->now.v, r->now.n, alike, &a, to, err));
    for (size_t i = 0; i < r->old.n; i++)
        if (to[i].to != PGK_INDEX_NONE)
            to[i].to += (uint32_t)first_group;
    m->aligned.n += r->old.n;
    return 0;
}

/* The alignment of two functions, made once. */
static int find_pair(struct pgk_match *m, uint32_t old_func, uint32_t func, uint32_t *at,
                     struct pgk_err *err)
{
    uint64_t hash = pgk_hash_pair(old_func, func);
    PGK_INDEX_FOR (&m->pair_index, hash, i) {
        if (m->pairs.v[i].old_func == old_func && m->pairs.v[i].func == func) {
            *at = i;
            return 0;
        }
    }
    struct pgk_func_pair p = {old_func, func, (uint32_t)m->aligned.n};
    struct lists r = {0};
    int status = align(m, &p, &r, err);
    pgk_vec_free(&r.old);
    pgk_vec_free(&r.now);
    pgk_vec_free(&r.runs);
    pgk_mem_free(r.has_sure);
    PGK_TRY(status);
    *at = (uint32_t)m->pairs.n;
    return pgk_vec_push(&m->pairs, p) && pgk_index_add(&m->pair_index, hash, *at)
               ? 0
               : pgk_fail_nomem(err);
}

/* The line after those that old call i, of an alignment that ends at `end`, may be on: the line of
 * the next pair. */
static uint32_t next_line(const struct pgk_match *m, size_t i, size_t end)
{
    for (size_t k = i + 1; k < end; k++)
        if (m->aligned.v[k].to != PGK_INDEX_NONE &&
            pgk_place_offset(m->places.v[k]) != pgk_place_offset(m->places.v[i]))
            return m->build.calls.v[m->groups.v[m->aligned.v[k].to].first].line;
    return UINT32_MAX;
}

/* gcc has all calls of a macro at one place; clang has them at its arguments, on this line or after
 * it. */
static struct found find_in_macro(const struct pgk_match *m, const struct pgk_match_call *key,
                                  uint32_t first, uint32_t behind)
{
    const struct pgk_build_func *f = &m->build.funcs.v[key->from];
    uint32_t line = m->build.calls.v[first].line;
    struct found best = {0};
    for (uint32_t c = f->first_call; c < f->first_call + f->n_calls; c++) {
        uint32_t at = m->build.calls.v[c].line;
        if (at == line || (at > line && at < behind && !best.rank))
            consider(m, key, c, &best);
    }
    return best;
}

/* Only calls of which it is at least so sure that they are meant count. */
static int find_moved(struct pgk_match *m, struct pgk_match_call *key, enum pgk_calls least,
                      struct pgk_err *err)
{
    uint32_t at;
    PGK_TRY(find_pair(m, key->old_func, key->from, &at, err));
    size_t end = at + 1 < m->pairs.n ? m->pairs.v[at + 1].first : m->aligned.n;
    for (size_t i = m->pairs.v[at].first; i < end; i++) {
        const struct pgk_aligned *to = &m->aligned.v[i];
        if (m->places.v[i] != key->where || to->to == PGK_INDEX_NONE)
            continue;
        const struct pgk_call_group *group = &m->groups.v[to->to];
        struct found best = {0}, beside = {0};
        for (uint32_t c = group->first; c < group->end; c++)
            consider(m, key, c, &best);
        if (!is_sure(&best))
            beside = find_in_macro(m, key, group->first, next_line(m, i, end));
        if (is_sure(&beside))
            best = beside;
        if (best.rank < least * 2u)
            return 0;
        key->call = best.call;
        key->level = to->ambiguous ? PGK_MATCH_AMBIGUOUS : PGK_MATCH_MOVED;
    }
    return 0;
}

/* ---- another path ---- */

/* The call in `func` that surely is of the callee. */
static uint32_t sure_call(const struct pgk_match *m, uint32_t func, uint32_t callee)
{
    const struct pgk_build_func *f = &m->build.funcs.v[func];
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++)
        if (pgk_match_calls(m, i, callee) == PGK_CALLS_SURELY)
            return i;
    return PGK_INDEX_NONE;
}

/* A call without a line stands for those that were merged, of all functions that are inlined here:
 * the first of them is as good as any. */
static void find_inlined(const struct pgk_match *m, struct pgk_match_call *key)
{
    const struct pgk_build_func *f = &m->build.funcs.v[key->from];
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++) {
        const struct pgk_build_call *c = &m->build.calls.v[i];
        if (c->callee == PGK_INDEX_NONE || !(c->how & PGK_HOW_INLINED))
            continue;
        uint32_t next = sure_call(m, c->callee, key->callee);
        if (next == PGK_INDEX_NONE)
            continue;
        key->call = i;
        key->via = next;
        key->level = PGK_MATCH_LINE_ZERO;
        return;
    }
}

/* A function that the profile does not know may have come between caller and callee. It is taken
 * if there is one alone, called from one place alone or from the place of the old call. */
static void find_between(const struct pgk_match *m, struct pgk_match_call *key)
{
    const struct pgk_build_func *f = &m->build.funcs.v[key->from];
    uint32_t call = PGK_INDEX_NONE, via = PGK_INDEX_NONE, n = 0;
    bool at_place = false;
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++) {
        const struct pgk_build_call *c = &m->build.calls.v[i];
        if (c->callee == PGK_INDEX_NONE || c->callee == key->from || m->known[c->callee])
            continue;
        bool here = pgk_same_offset(c->offset, pgk_place_offset(key->where));
        uint32_t next = sure_call(m, c->callee, key->callee);
        if (next == PGK_INDEX_NONE || (at_place && !here))
            continue;
        n = here == at_place ? n + 1 : 1;
        at_place = here;
        call = i;
        via = next;
    }
    if (!n)
        return;
    key->call = call;
    key->via = via;
    key->level = n == 1 ? PGK_MATCH_REROUTED : PGK_MATCH_AMBIGUOUS;
}

/* If the function in between is gone, the place is unknown: the call has to be the only one. */
static void find_only(const struct pgk_match *m, struct pgk_match_call *key, bool or_ambiguous)
{
    const struct pgk_build_func *f = &m->build.funcs.v[key->from];
    uint32_t first = PGK_INDEX_NONE, n = 0;
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++)
        if (pgk_match_calls(m, i, key->callee) == PGK_CALLS_SURELY && !n++)
            first = i;
    if (!n || (n > 1 && !or_ambiguous))
        return;
    key->call = first;
    key->level = n == 1 ? PGK_MATCH_REROUTED : PGK_MATCH_AMBIGUOUS;
}

static int find(struct pgk_match *m, struct pgk_match_call *key, struct pgk_err *err)
{
    bool gone = key->callee != PGK_INDEX_NONE &&
                m->first_candidate[key->callee] == m->first_candidate[key->callee + 1];
    key->call = key->via = PGK_INDEX_NONE;
    key->renamed = gone && m->renamed[key->callee] != PGK_INDEX_NONE;
    key->level = gone && !key->renamed ? PGK_MATCH_GONE : PGK_MATCH_FUNCTIONS;
    if (key->level == PGK_MATCH_GONE)
        return 0;
    if (!find_at_place(m, key) && !key->merged) {
        /* Functions that are elsewhere may allocate. */
        enum pgk_calls least =
            key->callee == PGK_INDEX_NONE ? PGK_CALLS_ELSEWHERE : PGK_CALLS_ADDRESS;
        PGK_TRY(find_moved(m, key, PGK_CALLS_SURELY, err));
        if (key->call == PGK_INDEX_NONE && pgk_match_is_line_zero(m, key->from, key->where))
            find_inlined(m, key);
        if (key->call == PGK_INDEX_NONE)
            find_between(m, key);
        if (key->call == PGK_INDEX_NONE && key->past_gone)
            find_only(m, key, false);
        if (key->call == PGK_INDEX_NONE)
            PGK_TRY(find_moved(m, key, least, err));
        if (key->call == PGK_INDEX_NONE && key->past_gone)
            find_only(m, key, true);
    }
    if (key->renamed && key->level < PGK_MATCH_REROUTED)
        key->level = PGK_MATCH_REROUTED;
    return 0;
}

static bool same_key(const struct pgk_match_call *a, const struct pgk_match_call *b)
{
    return a->from == b->from && a->old_func == b->old_func && a->callee == b->callee &&
           a->where == b->where && a->inlined == b->inlined && a->merged == b->merged &&
           a->past_gone == b->past_gone;
}

int pgk_match_call(struct pgk_match *m, const struct pgk_match_call *key, uint32_t *at,
                   struct pgk_err *err)
{
    uint64_t hash = pgk_hash_pair(
        pgk_hash_pair((uint64_t)key->from << 32 | key->old_func, key->where),
        (uint64_t)key->callee << 3 | (uint64_t)key->past_gone << 2 | (uint64_t)key->merged << 1 |
            key->inlined);
    PGK_INDEX_FOR (&m->call_index, hash, i) {
        if (same_key(&m->calls.v[i], key)) {
            *at = i;
            return 0;
        }
    }
    struct pgk_match_call call = *key;
    PGK_TRY(find(m, &call, err));
    *at = (uint32_t)m->calls.n;
    return pgk_vec_push(&m->calls, call) && pgk_index_add(&m->call_index, hash, *at)
               ? 0
               : pgk_fail_nomem(err);
}
