/* Types of objects that code compares itself, as compilers promote virtual calls: the object's
 * table is not read there any more, but how often a comparison found equality is what its branch
 * tells.
 *
 *     comparisons of code that was sampled ─► their branches: taken, or run past
 *                                          ─► counts of types, at the comparison or its call
 *
 * docs/formats/profile-generation.md section 8 */
#include "gen_types.h"

#include "gen_vtables.h"

/* ---- comparisons ---- */

int pgk_gen_find_type_tests(struct pgk_gen *g, struct pgk_gen_binary *b, struct pgk_err *err)
{
    pgk_addr_vec addrs = {0};
    if (g->opts.no_recovered_types || g->opts.no_vtables || !b->has_code)
        return 0;
    PGK_TRY(pgk_gen_need_vtables(b, err));
    int status = pgk_gen_list_sampled(b, &addrs)
                     ? pgk_type_tests_find(&b->tests, &b->code, &b->vtables, addrs.v, addrs.n, err)
                     : pgk_fail_nomem(err);
    pgk_vec_free(&addrs);
    g->stats.type_tests += b->tests.v.n;
    for (size_t i = 0; i < b->tests.v.n; i++)
        g->stats.type_choices += b->tests.v.v[i].no_branch;
    return status;
}

/* ---- counts ---- */

struct recovery {
    struct pgk_gen_binary *b;
    struct pgk_sample *profile;
    bool by_probes;
};

/* Counts objects of a type that the branch of test number `first` compares with. Several types get
 * equal parts, because they lead to the same code. If the table is read before it is compared, as
 * for a call that is promoted by type and by function, loads have counted the type already. */
static bool add(struct recovery *r, size_t first, uint32_t node, uint64_t count)
{
    const struct pgk_type_tests *tests = &r->b->tests;
    const bool loads = r->b->calls.vtables.v.n;
    uint32_t n = tests->v.v[first].tables;
    for (uint32_t i = 0; i < n; i++) {
        const struct pgk_type_test *t = &tests->v.v[first + i];
        uint64_t part = t->is_read && loads ? 0 : count / n + (i < count % n);
        uint64_t from = r->by_probes ? pgk_type_test_call(tests, &r->b->code, t) : t->at;
        uint32_t name = pgk_sample_name(r->profile, t->table, t->table_len);
        if (!name || (part && !pgk_call_counts_add(&r->b->calls.recovered, node, from, name, part)))
            return false;
    }
    return true;
}

/* Whether control comes by where a test that finds equality sends it on. */
static bool add_range(struct recovery *r, uint32_t node, uint64_t from, uint64_t to, uint64_t count)
{
    const struct pgk_type_tests *tests = &r->b->tests;
    for (size_t i = pgk_type_tests_from(tests, from);
         i < tests->v.n && tests->v.v[i].branch < to; i += tests->v.v[i].tables)
        if (!tests->v.v[i].if_equal && !tests->v.v[i].no_branch && !add(r, i, node, count))
            return false;
    return true;
}

static bool add_branch(struct recovery *r, uint32_t node, uint64_t from, uint64_t count)
{
    const struct pgk_type_tests *tests = &r->b->tests;
    size_t i = pgk_type_tests_from(tests, from);
    bool is = i < tests->v.n && tests->v.v[i].branch == from && tests->v.v[i].if_equal;
    return !is || add(r, i, node, count);
}

static bool add_all(struct recovery *r)
{
    const struct pgk_gen_binary *b = r->b;
    const struct pgk_call_trie *t = &b->calls;
    bool ok = true;
    for (size_t i = 0; ok && i < b->counters.ranges.v.n && !b->hits.v.n; i++) {
        const struct pgk_pair *p = &b->counters.ranges.v.v[i];
        ok = add_range(r, PGK_CALL_ROOT, p->from, p->to, p->count);
    }
    for (size_t i = 0; ok && i < b->counters.branches.v.n && !b->hits.v.n; i++)
        ok = add_branch(r, PGK_CALL_ROOT, b->counters.branches.v.v[i].from,
                        b->counters.branches.v.v[i].count);
    for (size_t i = 0; ok && i < t->ranges.v.n; i++)
        ok = add_range(r, t->ranges.v.v[i].node, t->ranges.v.v[i].from, t->ranges.v.v[i].to,
                       t->ranges.v.v[i].count);
    for (size_t i = 0; ok && i < t->branches.v.n; i++)
        ok = add_branch(r, t->branches.v.v[i].node, t->branches.v.v[i].from,
                        t->branches.v.v[i].count);
    for (size_t i = 0; ok && i < b->equal.v.n; i++) /* where counts are inferred */
        ok = add(r, pgk_type_tests_from(&b->tests, b->equal.v.v[i].from), PGK_CALL_ROOT,
                 b->equal.v.v[i].count);
    return ok;
}

/* ---- scale ---- */

double pgk_gen_load_scale(const struct pgk_gen *g)
{
    if (g->load_period <= g->loads || g->stack_period <= g->stacks)
        return 0; /* a period of 1 is one that is not known */
    double stacks = (double)g->stack_branches / (double)g->stack_period;
    return stacks * ((double)g->load_period / (double)g->loads);
}

void pgk_gen_scale_loads(struct pgk_gen *g, struct pgk_gen_binary *b, double scale)
{
    struct pgk_call_counts *v = &b->calls.vtables;
    g->stats.vtable_scale = b->vtable_scale = scale;
    for (size_t k = 0; k < v->v.n; k++) {
        double count = (double)v->v.v[k].count * scale;
        v->v.v[k].count = count < 1 ? 1 : count < 1e18 ? (uint64_t)(count + 0.5) : UINT64_MAX;
    }
}

static bool is_among(const struct pgk_pairs *calls, uint64_t addr)
{
    size_t i = pgk_pairs_from(calls, addr);
    return i < calls->v.n && calls->v.v[i].from == addr;
}

/* Each call has a load: so many times as many were made as were sampled. 0: that is not known. */
static bool scale_by_calls(struct pgk_gen_binary *b, double *scale)
{
    const struct pgk_call_counts *loads = &b->calls.vtables, *branches = &b->calls.branches;
    struct pgk_pairs sampled = {0};
    double calls = 0, all = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < loads->v.n; i++) {
        uint64_t call = pgk_gen_indirect_behind(b, loads->v.v[i].from);
        ok = !call || pgk_pairs_add(&sampled, call, 0, loads->v.v[i].count);
    }
    pgk_pairs_sort(&sampled);
    for (size_t i = 0; i < sampled.v.n; i++)
        all += (double)sampled.v.v[i].count;
    for (size_t i = 0; i < b->counters.branches.v.n; i++)
        if (is_among(&sampled, b->counters.branches.v.v[i].from))
            calls += (double)b->counters.branches.v.v[i].count;
    for (size_t i = 0; i < branches->v.n; i++)
        if (is_among(&sampled, branches->v.v[i].from))
            calls += (double)branches->v.v[i].count;
    pgk_pairs_free(&sampled);
    *scale = all > 0 ? calls / all : 0;
    return ok;
}

int pgk_gen_recover_types(struct pgk_gen *g, struct pgk_gen_binary *b, bool by_probes,
                          struct pgk_err *err)
{
    struct recovery r = {.b = b, .profile = g->profile, .by_probes = by_probes};
    double scale = pgk_gen_load_scale(g);
    pgk_pairs_sort(&b->equal);
    if (!add_all(&r))
        return pgk_fail_nomem(err);
    pgk_call_counts_sort(&b->calls.recovered);
    bool differ = g->loads && b->calls.vtables.v.n && b->calls.recovered.v.n;
    if (!differ || b->vtable_scale > 0)
        return 0;
    if (!(scale > 0) && !scale_by_calls(b, &scale))
        return pgk_fail_nomem(err);
    if (scale > 0)
        pgk_gen_scale_loads(g, b, scale);
    return 0;
}
