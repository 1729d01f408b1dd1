/* Orders of functions: what every order must be, and a plain version of the same sort. */
#include "../pgk_test.h"

#include "cache_sort.h"

#include <math.h>

enum { FUNCTIONS = 40, CALLS = 120, GRAPHS = 60 };

static struct pgk_call_graph random_graph(uint64_t *seed, size_t functions, size_t calls)
{
    struct pgk_call_graph g = {0};
    for (size_t i = 0; i < functions; i++)
        assert_true(pgk_vec_push(&g.functions,
                                 (struct pgk_graph_function){16 + test_random(seed) % 2000, 0}));
    for (size_t i = 0; i < calls; i++) {
        uint32_t from = (uint32_t)(test_random(seed) % functions);
        uint32_t to = (uint32_t)(test_random(seed) % functions);
        struct pgk_graph_call c = {from, to, test_random(seed) % g.functions.v[from].size,
                                   1 + test_random(seed) % 100000};
        g.functions.v[from].count += c.count;
        g.functions.v[to].count += c.count;
        assert_true(pgk_vec_push(&g.calls, c));
    }
    return g;
}

static void check_all_are_listed(const pgk_layout_list *order, const struct pgk_call_graph *g)
{
    unsigned *times = calloc(g->functions.n, sizeof *times);
    assert_non_null(times);
    for (size_t i = 0; i < order->n; i++)
        times[order->v[i]]++;
    for (size_t i = 0; i < g->functions.n; i++)
        assert_int_equal(times[i], g->functions.v[i].count ? 1 : 0);
    free(times);
}

/* ---- the plain version: all pairs of chains are weighed again after each join ---- */

struct plain {
    const struct pgk_call_graph *g;
    uint32_t chains[FUNCTIONS][FUNCTIONS];
    size_t n[FUNCTIONS];
    double total;
};

static void figures(const struct plain *p, size_t chain, double *size, double *entered,
                    double *count)
{
    *size = *entered = *count = 0;
    for (size_t i = 0; i < p->n[chain]; i++) {
        uint32_t f = p->chains[chain][i];
        *size += (double)p->g->functions.v[f].size;
        *count += (double)p->g->functions.v[f].count;
        for (size_t k = 0; k < p->g->calls.n; k++)
            *entered += p->g->calls.v[k].to == f ? (double)p->g->calls.v[k].count : 0;
    }
}

static double misses(const struct plain *p, double entered, double size)
{
    double in_cache = entered / size * 2048;
    return in_cache >= p->total ? 0 : entered * pow(1 - in_cache / p->total, 16);
}

static double nearness(const struct plain *p, size_t first, size_t second)
{
    double at[FUNCTIONS], next = 0, sum = 0;
    size_t in[FUNCTIONS] = {0};
    for (size_t turn = 0; turn < 2; turn++) {
        size_t chain = turn ? second : first;
        for (size_t i = 0; i < p->n[chain]; i++) {
            uint32_t f = p->chains[chain][i];
            at[f] = next;
            in[f] = turn + 1;
            next += (double)p->g->functions.v[f].size;
        }
    }
    for (size_t k = 0; k < p->g->calls.n; k++) {
        const struct pgk_graph_call *c = &p->g->calls.v[k];
        if (!in[c->from] || !in[c->to] || in[c->from] == in[c->to])
            continue;
        double distance = fabs(at[c->from] + (double)c->offset - at[c->to]);
        sum += (double)c->count * pow(distance > 0 ? distance : 0.1, -0.25);
    }
    return sum;
}

static double gain(const struct plain *p, size_t first, size_t second)
{
    double size[2], entered[2], count, near = nearness(p, first, second);
    if (near <= 0)
        return 0;
    figures(p, first, &size[0], &entered[0], &count);
    figures(p, second, &size[1], &entered[1], &count);
    double fewer = misses(p, entered[0], size[0]) + misses(p, entered[1], size[1]) -
                   misses(p, entered[0] + entered[1], size[0] + size[1]);
    return (near + 0.25 * fewer) / fmin(size[0], size[1]);
}

static void plain_sort(struct plain *p)
{
    for (;;) {
        double best = 0;
        size_t first = 0, second = 0;
        for (size_t a = 0; a < FUNCTIONS; a++) {
            for (size_t b = 0; b < FUNCTIONS; b++) {
                double g = a != b && p->n[a] && p->n[b] ? gain(p, a, b) : 0;
                if (g > best) {
                    best = g;
                    first = a;
                    second = b;
                }
            }
        }
        if (best <= 0)
            return;
        memcpy(p->chains[first] + p->n[first], p->chains[second], p->n[second] * sizeof(uint32_t));
        p->n[first] += p->n[second];
        p->n[second] = 0;
    }
}

static int compare_density(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
}

static size_t plain_order(const struct pgk_call_graph *g, uint32_t *order)
{
    static struct plain p;
    double chains[FUNCTIONS][2];
    size_t n = 0, listed = 0;
    p = (struct plain){.g = g};
    for (size_t k = 0; k < g->calls.n; k++)
        p.total += (double)g->calls.v[k].count;
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        p.n[i] = g->functions.v[i].count != 0;
        p.chains[i][0] = i;
    }
    plain_sort(&p);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        double size, entered, count;
        if (!p.n[i])
            continue;
        figures(&p, i, &size, &entered, &count);
        chains[n][0] = count / size;
        chains[n++][1] = (double)i;
    }
    qsort(chains, n, sizeof *chains, compare_density);
    for (size_t i = 0; i < n; i++) {
        size_t chain = (size_t)chains[i][1];
        memcpy(order + listed, p.chains[chain], p.n[chain] * sizeof *order);
        listed += p.n[chain];
    }
    return listed;
}

static void test_equals_the_plain_version(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < GRAPHS; i++) {
        struct pgk_call_graph g = random_graph(&seed, FUNCTIONS, 3 + test_random(&seed) % CALLS);
        pgk_layout_list order = {0};
        uint32_t expected[FUNCTIONS];
        assert_true(pgk_layout_order(&order, &g));
        assert_int_equal(order.n, plain_order(&g, expected));
        assert_memory_equal(order.v, expected, order.n * sizeof *expected);
        pgk_vec_free(&order);
        pgk_call_graph_free(&g);
    }
}

/* ---- what every order must be ---- */

static void test_large_graphs(void **state)
{
    enum { MANY = 20000 };
    uint64_t seed = 2;
    (void)state;
    struct pgk_call_graph g = random_graph(&seed, MANY, 3 * MANY);
    for (uint32_t i = 0; i < MANY; i += 2) { /* one that half of them call */
        assert_true(pgk_vec_push(&g.calls, (struct pgk_graph_call){i, 7, 0, 1 + i % 5}));
        g.functions.v[i].count++;
        g.functions.v[7].count++;
    }
    pgk_layout_list order = {0}, as_is = {0};
    double near, before;
    assert_true(pgk_layout_order(&order, &g));
    check_all_are_listed(&order, &g);
    for (uint32_t i = 0; i < MANY; i++)
        assert_true(pgk_vec_push(&as_is, i));
    assert_true(pgk_layout_score(&near, &order, &g));
    assert_true(pgk_layout_score(&before, &as_is, &g));
    assert_true(near > 1.5 * before);
    pgk_vec_free(&order);
    pgk_vec_free(&as_is);
    pgk_call_graph_free(&g);
}

static void test_callers_come_next_to_what_they_call(void **state)
{
    (void)state;
    struct pgk_call_graph g = {0};
    pgk_layout_list order = {0};
    for (uint32_t i = 0; i < 6; i++)
        assert_true(pgk_vec_push(&g.functions, (struct pgk_graph_function){100, i == 4 ? 0 : 10}));
    const struct pgk_graph_call calls[] = {{0, 5, 90, 1000}, {5, 2, 90, 900}, {3, 1, 10, 5},
                                           {2, 2, 0, 9999}, {0, 4, 0, 3}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_true(pgk_vec_push(&g.calls, calls[i]));
    assert_true(pgk_layout_order(&order, &g));
    check_all_are_listed(&order, &g);
    const uint32_t expected[] = {0, 5, 2, 3, 1};
    assert_memory_equal(order.v, expected, sizeof expected);
    pgk_vec_free(&order);
    pgk_call_graph_free(&g);
}

static void test_nothing_ran(void **state)
{
    (void)state;
    struct pgk_call_graph g = {0};
    pgk_layout_list order = {0};
    assert_true(pgk_layout_order(&order, &g));
    assert_true(pgk_vec_push(&g.functions, (struct pgk_graph_function){1, 0}));
    assert_true(pgk_layout_order(&order, &g));
    assert_int_equal(order.n, 0);
    pgk_call_graph_free(&g);
}

static void test_out_of_memory(void **state)
{
    uint64_t seed = 3;
    (void)state;
    struct pgk_call_graph g = random_graph(&seed, FUNCTIONS, CALLS);
    for (uint64_t nth = 1;; nth++) {
        pgk_layout_list order = {0};
        pgk_mem_fail_after(nth);
        bool ok = pgk_layout_order(&order, &g);
        pgk_mem_fail_after(0);
        pgk_vec_free(&order);
        if (ok)
            break;
    }
    pgk_call_graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_the_plain_version),
        cmocka_unit_test(test_large_graphs),
        cmocka_unit_test(test_callers_come_next_to_what_they_call),
        cmocka_unit_test(test_nothing_ran),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
