/* Orders of blocks by ext-TSP: what every order must be, what it is worth by a plain count, and how
 * near it comes to the best of all orders. */
#include "../pgk_test.h"

#include "ext_tsp.h"

#include <math.h>

enum { MOST_BLOCKS = 8, GRAPHS = 400 };

struct graph {
    PGK_VEC(struct pgk_tsp_block) blocks;
    PGK_VEC(struct pgk_tsp_jump) jumps;
};

static void add_jump(struct graph *g, uint32_t from, uint32_t to, uint64_t count)
{
    g->blocks.v[to].count += count;
    assert_true(pgk_vec_push(&g->jumps, (struct pgk_tsp_jump){from, to, count}));
}

/* A graph as of code: most blocks go on to a later one, some back. Jumps ascend, each once. */
static struct graph random_graph(uint64_t *seed, uint32_t n, unsigned most_size)
{
    struct graph g = {0};
    for (uint32_t i = 0; i < n; i++)
        assert_true(
            pgk_vec_push(&g.blocks, (struct pgk_tsp_block){1 + test_random(seed) % most_size, 1}));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = (i + 1) % n, far = (uint32_t)((i + 2 + test_random(seed) % 6) % n),
                 back = (uint32_t)(test_random(seed) % n);
        uint32_t to[3] = {next, far, back};
        for (unsigned k = 0; k < 3; k++)
            for (unsigned m = k + 1; m < 3; m++)
                if (to[m] < to[k]) {
                    uint32_t kept = to[k];
                    to[k] = to[m];
                    to[m] = kept;
                }
        for (unsigned k = 0; k < 3; k++)
            if ((!k || to[k] != to[k - 1]) && test_random(seed) % 3)
                add_jump(&g, i, to[k], 1 + test_random(seed) % 1000);
    }
    return g;
}

static struct pgk_tsp_graph view(const struct graph *g)
{
    return (struct pgk_tsp_graph){g->blocks.v, g->blocks.n, g->jumps.v, g->jumps.n};
}

static void free_graph(struct graph *g)
{
    pgk_vec_free(&g->blocks);
    pgk_vec_free(&g->jumps);
}

/* ---- the plain count ---- */

static double plain_score(const uint32_t *order, const struct graph *g)
{
    double sum = 0;
    for (size_t i = 0; i < g->jumps.n; i++) {
        const struct pgk_tsp_jump *j = &g->jumps.v[i];
        double from = 0, to = 0, at = 0, ways = 0, count = (double)j->count;
        for (size_t k = 0; k < g->blocks.n; k++) {
            to = order[k] == j->to ? at : to;
            at += (double)g->blocks.v[order[k]].size;
            from = order[k] == j->from ? at : from;
        }
        for (size_t k = 0; k < g->jumps.n; k++)
            ways += g->jumps.v[k].from == j->from;
        if (j->from == j->to)
            continue;
        if (from == to)
            sum += ways > 1 ? count : 1.05 * count;
        else if (to > from && to - from < 1024)
            sum += 0.1 * count * (1 - (to - from) / 1024);
        else if (to < from && from - to < 640)
            sum += 0.1 * count * (1 - (from - to) / 640);
    }
    return sum;
}

/* Over all orders that begin with block 0. */
static double best_score(uint32_t *order, size_t fixed, const struct graph *g)
{
    double best = 0;
    if (fixed == g->blocks.n)
        return plain_score(order, g);
    for (size_t i = fixed; i < g->blocks.n; i++) {
        uint32_t chosen = order[i];
        order[i] = order[fixed];
        order[fixed] = chosen;
        double score = best_score(order, fixed + 1, g);
        best = score > best ? score : best;
        order[fixed] = order[i];
        order[i] = chosen;
    }
    return best;
}

static void check_is_order(const pgk_layout_list *order, size_t n)
{
    bool *seen = calloc(n, sizeof *seen);
    assert_non_null(seen);
    assert_int_equal(order->n, n);
    assert_int_equal(order->v[0], 0);
    for (size_t i = 0; i < n; i++) {
        assert_false(seen[order->v[i]]);
        seen[order->v[i]] = true;
    }
    free(seen);
}

static void test_comes_near_the_best(void **state)
{
    uint64_t seed = 11;
    double all = 0, all_best = 0;
    unsigned best_found = 0;
    (void)state;
    for (unsigned i = 0; i < GRAPHS; i++) {
        uint32_t n = 2 + (uint32_t)(test_random(&seed) % (MOST_BLOCKS - 1));
        struct graph g = random_graph(&seed, n, i % 2 ? 40 : 400);
        struct pgk_tsp_graph v = view(&g);
        pgk_layout_list order = {0};
        uint32_t every[MOST_BLOCKS];
        double score;
        assert_true(pgk_ext_tsp_order(&order, &v));
        check_is_order(&order, n);
        assert_true(pgk_ext_tsp_score(&score, order.v, order.n, &v));
        assert_true(fabs(score - plain_score(order.v, &g)) <= 1e-9 * (1 + score));
        for (uint32_t k = 0; k < n; k++)
            every[k] = k;
        double best = best_score(every, 1, &g);
        assert_true(score <= best * (1 + 1e-9));
        assert_true(score >= 0.7 * best);
        best_found += score >= best * (1 - 1e-9);
        all += score;
        all_best += best;
        pgk_vec_free(&order);
        free_graph(&g);
    }
    printf("%.2f %% of the best score, which %u of %u orders have\n", 100 * all / all_best,
           best_found, GRAPHS);
    assert_true(all >= 0.98 * all_best);
    assert_true(best_found >= GRAPHS * 7 / 10);
}

/* ---- graphs of which the best order is known ---- */

static void expect_order(const struct graph *g, const uint32_t *expected)
{
    struct pgk_tsp_graph v = view(g);
    pgk_layout_list order = {0};
    assert_true(pgk_ext_tsp_order(&order, &v));
    assert_int_equal(order.n, g->blocks.n);
    assert_memory_equal(order.v, expected, order.n * sizeof *expected);
    pgk_vec_free(&order);
}

/* What is rare comes last. */
static void test_known_orders(void **state)
{
    struct graph g = {0};
    (void)state;
    for (int i = 0; i < 5; i++)
        assert_true(pgk_vec_push(&g.blocks, (struct pgk_tsp_block){20, 1}));
    add_jump(&g, 0, 1, 10);
    add_jump(&g, 0, 2, 990);
    add_jump(&g, 1, 3, 10);
    add_jump(&g, 2, 3, 990);
    add_jump(&g, 3, 4, 1000);
    expect_order(&g, (const uint32_t[]){0, 2, 3, 4, 1});
    free_graph(&g);
}

static void test_few_blocks(void **state)
{
    struct graph g = {0};
    struct pgk_tsp_graph v = view(&g);
    pgk_layout_list order = {0};
    (void)state;
    assert_true(pgk_ext_tsp_order(&order, &v));
    assert_int_equal(order.n, 0);
    assert_true(pgk_vec_push(&g.blocks, (struct pgk_tsp_block){0, 0}));
    expect_order(&g, (const uint32_t[]){0});
    assert_true(pgk_vec_push(&g.jumps, (struct pgk_tsp_jump){0, 0, UINT64_MAX}));
    expect_order(&g, (const uint32_t[]){0});
    assert_true(pgk_vec_push(&g.blocks, (struct pgk_tsp_block){UINT32_MAX, UINT64_MAX}));
    expect_order(&g, (const uint32_t[]){0, 1});
    assert_true(pgk_vec_push(&g.jumps, (struct pgk_tsp_jump){1, 0, UINT64_MAX}));
    expect_order(&g, (const uint32_t[]){0, 1});
    free_graph(&g);
}

/* ---- large ones ---- */

static void check_large(uint64_t seed, uint32_t n)
{
    struct graph g = random_graph(&seed, n, 60);
    struct pgk_tsp_graph v = view(&g);
    pgk_layout_list order = {0}, again = {0};
    double score, as_is;
    uint32_t *plain = malloc(n * sizeof *plain);
    assert_non_null(plain);
    for (uint32_t i = 0; i < n; i++)
        plain[i] = i;
    assert_true(pgk_ext_tsp_order(&order, &v));
    check_is_order(&order, n);
    assert_true(pgk_ext_tsp_score(&score, order.v, order.n, &v));
    assert_true(pgk_ext_tsp_score(&as_is, plain, n, &v));
    assert_true(score > 1.3 * as_is);
    assert_true(pgk_ext_tsp_order(&again, &v));
    assert_memory_equal(order.v, again.v, n * sizeof *order.v);
    pgk_vec_free(&order);
    pgk_vec_free(&again);
    free(plain);
    free_graph(&g);
}

static void test_large_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        check_large(seed, 3000);
}

/* One block that jumps to all others, as that of an interpreter. */
static void test_switch(void **state)
{
    enum { CASES = 3000 };
    struct graph g = {0};
    struct pgk_tsp_graph v;
    pgk_layout_list order = {0};
    (void)state;
    for (int i = 0; i <= CASES; i++)
        assert_true(pgk_vec_push(&g.blocks, (struct pgk_tsp_block){30, 1}));
    for (uint32_t i = 1; i <= CASES; i++)
        add_jump(&g, 0, i, i);
    for (uint32_t i = 1; i <= CASES; i++)
        add_jump(&g, i, 0, i);
    v = view(&g);
    assert_true(pgk_ext_tsp_order(&order, &v));
    check_is_order(&order, CASES + 1);
    assert_int_equal(order.v[1], CASES); /* the most frequent */
    pgk_vec_free(&order);
    free_graph(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_near_the_best),
        cmocka_unit_test(test_known_orders),
        cmocka_unit_test(test_few_blocks),
        cmocka_unit_test(test_large_graphs),
        cmocka_unit_test(test_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
