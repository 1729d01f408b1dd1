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
            assert_int_equal(pgc_in_loop(g, a, b), in_loop_by_definition(g, a, b));
            uint32_t both = pgc_common_dominator(g, a, b);
            assert_true(pgc_dominates(g, both, a) && pgc_dominates(g, both, b));
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
