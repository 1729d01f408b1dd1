/* Callers before what they call. */
#include "call_order.h"

#include "pgk_test.h"

#include <string.h>

static void check_order(const struct pgk_call_arc *v, size_t n_arcs, uint32_t n,
                        const uint32_t *expected)
{
    pgk_arc_vec arcs = {0};
    uint32_t order[8];
    for (size_t i = 0; i < n_arcs; i++)
        assert_true(pgk_vec_push(&arcs, v[i]));
    pgk_arcs_add_up(&arcs);
    assert_true(pgk_call_order(&arcs, n, order));
    assert_memory_equal(order, expected, n * sizeof *order);
    pgk_vec_free(&arcs);
}

static void test_chain(void **state)
{
    (void)state;
    const struct pgk_call_arc arcs[] = {{2, 1, 10}, {1, 0, 10}};
    const uint32_t expected[] = {2, 1, 0};
    check_order(arcs, 2, 3, expected);
}

static void test_no_calls(void **state)
{
    (void)state;
    const uint32_t expected[] = {2, 1, 0};
    check_order(NULL, 0, 3, expected);
}

/* 0 calls 1 a hundred times, and is called back once: the heavy call goes forward, whichever
 * function is met first. */
static void test_cycle(void **state)
{
    (void)state;
    const struct pgk_call_arc first_heavy[] = {{0, 1, 100}, {1, 0, 1}};
    const struct pgk_call_arc second_heavy[] = {{0, 1, 1}, {1, 0, 60}, {1, 0, 40}};
    const uint32_t forward[] = {0, 1}, backward[] = {1, 0};
    check_order(first_heavy, 2, 2, forward);
    check_order(second_heavy, 3, 2, backward);
}

static void test_recursion(void **state)
{
    (void)state;
    const struct pgk_call_arc arcs[] = {{0, 0, 7}, {1, 1, 9}, {1, 0, 2}};
    const uint32_t expected[] = {1, 0};
    check_order(arcs, 3, 2, expected);
}

static void test_add_up(void **state)
{
    (void)state;
    pgk_arc_vec arcs = {0};
    assert_true(pgk_vec_push(&arcs, (struct pgk_call_arc){1, 0, UINT64_MAX}));
    assert_true(pgk_vec_push(&arcs, (struct pgk_call_arc){0, 1, 3}));
    assert_true(pgk_vec_push(&arcs, (struct pgk_call_arc){1, 0, 3}));
    pgk_arcs_add_up(&arcs);
    assert_int_equal(arcs.n, 2);
    assert_int_equal(arcs.v[0].weight, 3);
    assert_true(arcs.v[1].weight == UINT64_MAX);
    pgk_vec_free(&arcs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_no_calls),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
