/* Counts of blocks that flow can have. */
#include "flow_balance.h"

#include "pgk_test.h"

#include <stdlib.h>

struct graph {
    pgk_flow_blocks blocks;
    pgk_flow_edges edges;
};

static void add_block(struct graph *g, uint64_t count, uint32_t cost, bool is_entry, bool is_exit)
{
    assert_true(pgk_vec_push(&g->blocks, (struct pgk_flow_block){.count = count,
                                                                 .cost = cost,
                                                                 .is_entry = is_entry,
                                                                 .is_exit = is_exit}));
}

static void add_edge(struct graph *g, uint32_t from, uint32_t to)
{
    assert_true(pgk_vec_push(&g->edges, (struct pgk_flow_edge){.from = from, .to = to}));
}

static void free_graph(struct graph *g)
{
    pgk_vec_free(&g->blocks);
    pgk_vec_free(&g->edges);
}

/* What comes in over edges is at most the count, and all of it unless control enters there; what
 * goes out is the count. */
static void check_flow(const struct graph *g)
{
    for (uint32_t i = 0; i < g->blocks.n; i++) {
        const struct pgk_flow_block *b = &g->blocks.v[i];
        uint64_t in = 0, out = b->leaves;
        for (size_t e = 0; e < g->edges.n; e++) {
            in += g->edges.v[e].to == i ? g->edges.v[e].count : 0;
            out += g->edges.v[e].from == i ? g->edges.v[e].count : 0;
        }
        assert_true(out == b->count);
        assert_true(b->is_entry ? in <= b->count : in == b->count);
        assert_true(b->is_exit || !b->leaves);
    }
}

/* entry ─► a or b ─► exit: the samples of `a` were too few. */
static void test_diamond(void **state)
{
    (void)state;
    struct graph g = {0};
    add_block(&g, 100, 4, true, false);
    add_block(&g, 20, 1, false, false);
    add_block(&g, 70, 4, false, false);
    add_block(&g, 100, 4, false, true);
    add_edge(&g, 0, 1);
    add_edge(&g, 0, 2);
    add_edge(&g, 1, 3);
    add_edge(&g, 2, 3);
    assert_true(pgk_flow_balance(&g.blocks, &g.edges, 0, 1));
    check_flow(&g);
    const uint64_t expected[] = {100, 30, 70, 100};
    for (size_t i = 0; i < 4; i++)
        assert_true(g.blocks.v[i].count == expected[i]);
    assert_true(g.blocks.v[3].leaves == 100);
    free_graph(&g);
}

/* A hot loop whose way in was too short to be sampled is entered all the same. */
static void test_loop_is_entered(void **state)
{
    (void)state;
    struct graph g = {0};
    add_block(&g, 0, 8, true, false);
    add_block(&g, 5000, 8, false, false);
    add_block(&g, 0, 8, false, true);
    add_edge(&g, 0, 1);
    add_edge(&g, 1, 1);
    add_edge(&g, 1, 2);
    assert_true(pgk_flow_balance(&g.blocks, &g.edges, 0, 1));
    check_flow(&g);
    assert_true(g.blocks.v[0].count == 1 && g.blocks.v[2].count == 1);
    assert_true(g.blocks.v[1].count == 5001 && g.edges.v[1].count == 5000);
    free_graph(&g);
}

static void test_one_block(void **state)
{
    (void)state;
    struct graph g = {0};
    add_block(&g, 7, 1, true, true);
    assert_true(pgk_flow_balance(&g.blocks, &g.edges, 0, 1));
    assert_true(g.blocks.v[0].count == 7 && g.blocks.v[0].leaves == 7);
    free_graph(&g);
}

/* ---- the least change, by trying all flows ---- */

enum { MOST_BLOCKS = 4, MOST_EDGES = 5, HIGHEST = 3 };

struct search {
    const struct graph *g; /* as measured */
    uint64_t edge[MOST_EDGES], least;
};

static void try_flows(struct search *s, size_t edge)
{
    if (edge < s->g->edges.n) {
        for (s->edge[edge] = 0; s->edge[edge] <= 2 * HIGHEST; s->edge[edge]++)
            try_flows(s, edge + 1);
        return;
    }
    uint64_t cost = 0;
    for (uint32_t i = 0; i < s->g->blocks.n; i++) {
        const struct pgk_flow_block *b = &s->g->blocks.v[i];
        uint64_t in = 0, out = 0;
        for (size_t e = 0; e < s->g->edges.n; e++) {
            in += s->g->edges.v[e].to == i ? s->edge[e] : 0;
            out += s->g->edges.v[e].from == i ? s->edge[e] : 0;
        }
        if ((in > out && !b->is_exit) || (out > in && !b->is_entry))
            return;
        uint64_t low = in > out ? in : out;
        if (b->is_entry && b->is_exit && b->count > low) /* it may run by itself */
            low = b->count;
        cost += low > b->count ? (low - b->count) * b->cost : 2 * (b->count - low) * b->cost;
    }
    s->least = cost < s->least ? cost : s->least;
}

static uint64_t cost_of(const struct graph *before, const struct graph *after)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < before->blocks.n; i++) {
        uint64_t a = before->blocks.v[i].count, b = after->blocks.v[i].count;
        cost += (b > a ? b - a : 2 * (a - b)) * before->blocks.v[i].cost;
    }
    return cost;
}

static void copy_graph(struct graph *to, const struct graph *from)
{
    for (size_t i = 0; i < from->blocks.n; i++)
        assert_true(pgk_vec_push(&to->blocks, from->blocks.v[i]));
    for (size_t i = 0; i < from->edges.n; i++)
        assert_true(pgk_vec_push(&to->edges, from->edges.v[i]));
}

static void test_least_change(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 300; round++) {
        struct graph g = {0}, balanced = {0};
        uint32_t n = 2 + (uint32_t)rand() % (MOST_BLOCKS - 1);
        for (uint32_t i = 0; i < n; i++)
            add_block(&g, (uint64_t)(rand() % (HIGHEST + 1)), 1 + (uint32_t)rand() % 4, !i,
                      i + 1 == n);
        for (int e = 0; e < MOST_EDGES; e++)
            add_edge(&g, (uint32_t)rand() % n, (uint32_t)rand() % n);
        copy_graph(&balanced, &g);
        assert_true(pgk_flow_balance(&balanced.blocks, &balanced.edges, 0, 0));
        check_flow(&balanced);
        struct search s = {.g = &g, .least = UINT64_MAX};
        try_flows(&s, 0);
        assert_int_equal(cost_of(&g, &balanced), s.least);
        free_graph(&g);
        free_graph(&balanced);
    }
}

static void test_large(void **state)
{
    (void)state;
    srand(2);
    struct graph g = {0};
    enum { N = 3000 };
    for (uint32_t i = 0; i < N; i++)
        add_block(&g, (uint64_t)rand() % 100000, 1 + (uint32_t)rand() % 32, !i, i % 50 == 49);
    for (uint32_t i = 0; i < N; i++) {
        if (i + 1 < N)
            add_edge(&g, i, i + 1);
        add_edge(&g, i, (uint32_t)rand() % N);
    }
    assert_true(pgk_flow_balance(&g.blocks, &g.edges, 0, 1));
    check_flow(&g);
    free_graph(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diamond),
        cmocka_unit_test(test_loop_is_entered),
        cmocka_unit_test(test_one_block),
        cmocka_unit_test(test_least_change),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
