/* Plans of updates are followed on random walks through random graphs: what is added is what was
 * counted, before each barrier, and no more often. */
#include "plan_pending.h"

#include "pgk_test.h"
#include "plan_graphs.h"

enum { MOST = 14, MOST_SEGMENTS = 3, STEPS = 60, WALKS = 20 };

struct totals {
    uint64_t groups, updates; /* executed */
};

static const struct pgc_update *update_at(const struct pgc_plan *p, enum pgc_place place,
                                          uint32_t index)
{
    const struct pgc_update *found = NULL;
    for (size_t i = 0; i < p->n_updates; i++)
        if (p->updates[i].place == place && p->updates[i].index == index) {
            assert_null(found);
            found = &p->updates[i];
        }
    return found;
}

/* Writes what is pending, if the plan does so here. */
static void follow(const struct pgc_plan *p, enum pgc_place place, uint32_t index,
                   uint32_t *pending, struct totals *totals)
{
    const struct pgc_update *update = update_at(p, place, index);
    if (!update)
        return;
    assert_true(update->amount == PGC_VARIES || update->amount == *pending);
    assert_true(update->guarded || *pending);
    totals->updates += *pending != 0;
    *pending = 0;
}

static void walk_block(const struct pgc_plan *p, uint32_t b, uint32_t *pending,
                       struct totals *totals)
{
    const struct pgc_block_plan *plan = &p->of[b];
    assert_true(plan->in != PGC_NOTHING || *pending == 0);
    assert_true(plan->in != PGC_SURELY || *pending);
    assert_true(plan->in == PGC_NOTHING || plan->amount_in == PGC_VARIES ||
                plan->amount_in == *pending);
    for (uint32_t segment = 0, i = 0; segment < p->flow->segments[b]; segment++) {
        for (i = 0; i < p->n_groups; i++)
            if (p->groups[i].block == b && p->groups[i].segment == segment) {
                *pending += p->groups[i].weight;
                totals->groups++;
                follow(p, PGC_AT_GROUP, i, pending, totals);
            }
        if (segment + 1 < p->flow->segments[b])
            assert_int_equal(*pending, 0);
    }
    follow(p, PGC_AT_END, b, pending, totals);
    assert_true(plan->out != PGC_NOTHING || *pending == 0);
    assert_true(plan->out == PGC_NOTHING || plan->amount_out == PGC_VARIES ||
                plan->amount_out == *pending);
}

static void walk(const struct pgc_plan *p, uint64_t *state, struct totals *totals)
{
    const struct pgc_graph *g = &p->flow->graph;
    uint32_t pending = 0;
    for (uint32_t b = 0, step = 0; step < STEPS; step++) {
        walk_block(p, b, &pending, totals);
        uint32_t ways = g->out[b + 1] - g->out[b];
        if (!ways) {
            assert_int_equal(pending, 0);
            return;
        }
        uint32_t e = g->out[b] + (uint32_t)(test_random(state) % ways);
        assert_true(g->edges[e].to != p->home || !pgc_flows(p, &g->edges[e]));
        follow(p, PGC_ON_EDGE, e, &pending, totals);
        if (pending)
            assert_true(pgc_flows(p, &g->edges[e]) && p->flow->open[b]);
        b = g->edges[e].to;
    }
}

static uint32_t random_groups(const struct pgc_flow *f, uint32_t home, struct pgc_group *groups,
                              uint64_t *state)
{
    uint32_t n = 0, one_in = 1 + (uint32_t)(test_random(state) % 6);
    for (uint32_t b = 0; b < f->graph.blocks; b++)
        for (uint32_t s = 0; s < f->segments[b]; s++)
            if (pgc_reached(&f->graph, b) && pgc_dominates(&f->graph, home, b) &&
                test_random(state) % one_in == 0)
                groups[n++] = (struct pgc_group){b, s, 1 + (uint32_t)(test_random(state) % 3)};
    return n;
}

static void one_graph(uint64_t *state, struct totals *totals)
{
    struct pgc_flow flow;
    struct pgc_plan plan;
    struct pgc_group groups[MOST * MOST_SEGMENTS];
    uint32_t blocks = 1 + (uint32_t)(test_random(state) % MOST);
    pgc_flow_open(&flow, blocks);
    random_edges(&flow.graph, blocks, state);
    pgc_graph_finish(&flow.graph);
    for (uint32_t b = 0; b < blocks; b++) {
        flow.segments[b] =
            test_random(state) % 4 ? 1 : 1 + (uint32_t)(test_random(state) % MOST_SEGMENTS);
        flow.open[b] = test_random(state) % 12 != 0;
    }
    pgc_plan_open(&plan, &flow);
    for (int pointer = 0; pointer < 4; pointer++) {
        uint32_t home = test_random(state) % 2 ? 0 : (uint32_t)(test_random(state) % blocks);
        if (!pgc_reached(&flow.graph, home))
            continue;
        uint32_t n = random_groups(&flow, home, groups, state);
        pgc_plan_make(&plan, home, groups, n);
        struct totals before = *totals;
        for (int i = 0; i < WALKS; i++)
            walk(&plan, state, totals);
        assert_true(totals->updates - before.updates <= totals->groups - before.groups);
    }
    pgc_plan_close(&plan);
    pgc_flow_close(&flow);
}

static void random_plans(void **unused)
{
    (void)unused;
    const char *more = getenv("PGOKIT_TEST_PLANS");
    uint64_t state = 1;
    struct totals totals = {0};
    for (long i = more ? atol(more) : 5000; i > 0; i--)
        one_graph(&state, &totals);
    print_message("updates per group: %.2f\n", (double)totals.updates / (double)totals.groups);
    assert_true(totals.updates < totals.groups * 9 / 10);
}

/* Checks one plan on the graph 0 -> 1 -> 1.. -> 2, a loop of one block. */
static struct pgc_plan plan_of_loop(struct pgc_flow *flow, uint32_t segments)
{
    static const struct pgc_group group = {1, 0, 2};
    struct pgc_plan plan;
    pgc_flow_open(flow, 3);
    pgc_graph_edge(&flow->graph, 0, 1);
    pgc_graph_edge(&flow->graph, 1, 1);
    pgc_graph_edge(&flow->graph, 1, 2);
    pgc_graph_finish(&flow->graph);
    for (uint32_t b = 0; b < 3; b++) {
        flow->segments[b] = b == 1 ? segments : 1;
        flow->open[b] = true;
    }
    pgc_plan_open(&plan, flow);
    pgc_plan_make(&plan, 0, &group, 1);
    return plan;
}

static void loop_is_counted_in_a_register(void **unused)
{
    (void)unused;
    struct pgc_flow flow;
    struct pgc_plan plan = plan_of_loop(&flow, 1);
    assert_int_equal(plan.n_updates, 1);
    assert_int_equal(plan.updates[0].place, PGC_ON_EDGE);
    assert_int_equal(plan.updates[0].index, 2);
    assert_int_equal(plan.updates[0].amount, PGC_VARIES);
    assert_false(plan.updates[0].guarded);
    pgc_plan_close(&plan);
    pgc_flow_close(&flow);
}

static void loop_with_a_call_is_not(void **unused)
{
    (void)unused;
    struct pgc_flow flow;
    struct pgc_plan plan = plan_of_loop(&flow, 2);
    assert_int_equal(plan.n_updates, 1);
    assert_int_equal(plan.updates[0].place, PGC_AT_GROUP);
    assert_int_equal(plan.updates[0].amount, 2);
    pgc_plan_close(&plan);
    pgc_flow_close(&flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loop_is_counted_in_a_register),
        cmocka_unit_test(loop_with_a_call_is_not),
        cmocka_unit_test(random_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
