/* Dominators and natural loops beside their definitions. */
#include "plan_graph.h"

#include "pgk_test.h"
#include "plan_graphs.h"

enum { MOST = 14 };

/* Blocks that can be reached from one without passing another. */
static void mark(const struct pgc_graph *g, uint32_t from, uint32_t without, bool *marked)
{
    if (from == without || marked[from])
        return;
    marked[from] = true;
    for (uint32_t e = g->out[from]; e < g->out[from + 1]; e++)
        mark(g, g->edges[e].to, without, marked);
}

static bool dominates_by_definition(const struct pgc_graph *g, uint32_t a, uint32_t b)
{
    bool marked[MOST] = {0};
    mark(g, 0, a, marked);
    return !marked[b];
}

/* A block is in the loop of a header that dominates it if it gets back there past no other way
 * than through blocks that the header dominates, which is all that is on such a way. */
static bool in_loop_by_definition(const struct pgc_graph *g, uint32_t header, uint32_t block)
{
    for (size_t e = 0; e < g->n_edges; e++) {
        const struct pgc_edge *edge = &g->edges[e];
        bool marked[MOST] = {0};
        if (edge->to != header || !pgc_reached(g, edge->from) ||
            !dominates_by_definition(g, header, edge->from))
            continue;
        if (block == header)
            return true;
        mark(g, block, header, marked);
        if (marked[edge->from])
            return true;
    }
    return false;
}

static bool in_loop(const struct pgc_graph *g, uint32_t header, uint32_t block)
{
    uint32_t loop = g->loop[block];
    while (loop != PGC_NONE && loop != header)
        loop = g->outer[loop];
    return loop == header;
}

static void check(const struct pgc_graph *g)
{
    bool reached[MOST] = {0};
    mark(g, 0, PGC_NONE, reached);
    for (uint32_t b = 0; b < g->blocks; b++) {
        assert_int_equal(pgc_reached(g, b), reached[b]);
        if (!reached[b])
            continue;
        assert_int_equal(g->order[g->place[b]], b);
        for (uint32_t a = 0; a < g->blocks; a++) {
            if (!reached[a])
                continue;
            assert_int_equal(pgc_dominates(g, a, b), dominates_by_definition(g, a, b));
            assert_int_equal(in_loop(g, a, b), in_loop_by_definition(g, a, b));
            /* Nothing else is between a block and the one that dominates it immediately. */
            assert_true(!pgc_dominates(g, a, b) || a == b || pgc_dominates(g, a, g->idom[b]));
        }
    }
}

static void random_graphs(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    size_t loops = 0;
    for (int i = 0; i < 20000; i++) {
        struct pgc_graph g;
        uint32_t blocks = 1 + test_random(&state) % MOST;
        pgc_graph_open(&g, blocks);
        random_edges(&g, blocks, &state);
        pgc_graph_finish(&g);
        check(&g);
        for (uint32_t b = 0; b < blocks; b++)
            loops += pgc_reached(&g, b) && pgc_loop_depth(&g, b) > 1;
        pgc_graph_close(&g);
    }
    assert_true(loops > 1000);
}

/* In a loop, blocks that each leave to a common one, as those of many returns do, or go back to the
 * header: dominators are a chain. */
static void chain(struct pgc_graph *g, uint32_t n)
{
    for (uint32_t b = 0; b + 1 < n; b++) {
        pgc_graph_edge(g, b, b + 2 < n ? b + 1 : n - 1);
        pgc_graph_edge(g, b, b % 2 && b > 1 ? 1 : n - 1);
    }
}

/* Many cases of a switch that meet again, within a loop. */
static void cases(struct pgc_graph *g, uint32_t n)
{
    pgc_graph_edge(g, 0, 1);
    for (uint32_t b = 2; b + 1 < n; b++)
        pgc_graph_edge(g, 1, b);
    for (uint32_t b = 2; b + 1 < n; b++)
        pgc_graph_edge(g, b, b % 3 ? n - 1 : b % 2 || b + 2 == n ? 1 : b + 1);
    pgc_graph_edge(g, n - 1, 1);
}

static void work_grows_with_edges_alone(void **unused)
{
    (void)unused;
    void (*const shapes[])(struct pgc_graph *, uint32_t) = {chain, cases};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t blocks = 1000; blocks <= 100000; blocks *= 10) {
            struct pgc_graph g;
            pgc_graph_open(&g, blocks);
            shapes[i](&g, blocks);
            pgc_graph_finish(&g);
            assert_int_equal(g.reached, blocks);
            assert_true(g.steps < 8 * g.n_edges);
            pgc_graph_close(&g);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs),
                                       cmocka_unit_test(work_grows_with_edges_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
