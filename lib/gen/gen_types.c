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
    g->stats.type_tests += b->tests.list.n;
    for (size_t i = 0; i < b->tests.list.n; i++)
        g->stats.type_choices += b->tests.list.v[i].no_branch;
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
    const bool loads = r->b->calls.vtables.list.n;
    uint32_t n = tests->list.v[first].tables;
    for (uint32_t i = 0; i < n; i++) {
        const struct pgk_type_test *t = &tests->list.v[first + i];
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
         i < tests->list.n && tests->list.v[i].branch < to; i += tests->list.v[i].tables)
        if (!tests->list.v[i].if_equal && !tests->list.v[i].no_branch && !add(r, i, node, count))
            return false;
    return true;
}

static bool add_branch(struct recovery *r, uint32_t node, uint64_t from, uint64_t count)
{
    const struct pgk_type_tests *tests = &r->b->tests;
    size_t i = pgk_type_tests_from(tests, from);
    bool is = i < tests->list.n && tests->list.v[i].branch == from && tests->list.v[i].if_equal;
    return !is || add(r, i, node, count);
}

static bool add_all(struct recovery *r)
{
    const struct pgk_gen_binary *b = r->b;
    const struct pgk_call_trie *t = &b->calls;
    bool ok = true;
    for (size_t i = 0; ok && i < b->counters.ranges.list.n && !b->hits.list.n; i++) {
        const struct pgk_pair *p = &b->counters.ranges.list.v[i];
        ok = add_range(r, PGK_CALL_ROOT, p->from, p->to, p->count);
    }
    for (size_t i = 0; ok && i < b->counters.branches.list.n && !b->hits.list.n; i++)
        ok = add_branch(r, PGK_CALL_ROOT, b->counters.branches.list.v[i].from,
                        b->counters.branches.list.v[i].count);
    for (size_t i = 0; ok && i < t->ranges.list.n; i++)
        ok = add_range(r, t->ranges.list.v[i].node, t->ranges.list.v[i].from,
                       t->ranges.list.v[i].to, t->ranges.list.v[i].count);
    for (size_t i = 0; ok && i < t->branches.list.n; i++)
        ok = add_branch(r, t->branches.list.v[i].node, t->branches.list.v[i].from,
                        t->branches.list.v[i].count);
    for (size_t i = 0; ok && i < b->equal.list.n; i++) /* where counts are inferred */
        ok = add(r, pgk_type_tests_from(&b->tests, b->equal.list.v[i].from), PGK_CALL_ROOT,
                 b->equal.list.v[i].count);
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
    for (size_t k = 0; k < v->list.n; k++) {
        double count = (double)v->list.v[k].count * scale;
        v->list.v[k].count = count < 1 ? 1 : count < 1e18 ? (uint64_t)(count + 0.5) : UINT64_MAX;
    }
}

static bool is_among(const struct pgk_pairs *calls, uint64_t addr)
{
    size_t i = pgk_pairs_from(calls, addr);
    return i < calls->list.n && calls->list.v[i].from == addr;
}

/* Each call has a load: so many times as many were made as were sampled. 0: that is not known. */
static bool scale_by_calls(struct pgk_gen_binary *b, double *scale)
{
    const struct pgk_call_counts *loads = &b->calls.vtables, *branches = &b->calls.branches;
    struct pgk_pairs sampled = {0};
    double calls = 0, all = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < loads->list.n; i++) {
        uint64_t call = pgk_gen_indirect_behind(b, loads->list.v[i].from);
        ok = !call || pgk_pairs_add(&sampled, call, 0, loads->list.v[i].count);
    }
    pgk_pairs_sort(&sampled);
    for (size_t i = 0; i < sampled.list.n; i++)
        all += (double)sampled.list.v[i].count;
    for (size_t i = 0; i < b->counters.branches.list.n; i++)
        if (is_among(&sampled, b->counters.branches.list.v[i].from))
            calls += (double)b->counters.branches.list.v[i].count;
    for (size_t i = 0; i < branches->list.n; i++)
        if (is_among(&sampled, branches->list.v[i].from))
            calls += (double)branches->list.v[i].count;
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
    bool differ = g->loads && b->calls.vtables.list.n && b->calls.recovered.list.n;
    if (!differ || b->vtable_scale > 0)
        return 0;
    if (!(scale > 0) && !scale_by_calls(b, &scale))
        return pgk_fail_nomem(err);
    if (scale > 0)
        pgk_gen_scale_loads(g, b, scale);
    return 0;
}
