/* The tree of stacks against a plain list of stacks. */
#include "stack_tree.h"

#include "pgk_test.h"

enum { STACKS = 3000, DEPTH = 6 };

static void test_equal_stacks_are_one_node(void **state)
{
    (void)state;
    static uint32_t stacks[STACKS][DEPTH], depth[STACKS], node[STACKS];
    struct pgk_stack_tree t;
    uint64_t seed = 11;
    assert_true(pgk_stack_tree_init(&t));
    for (int i = 0; i < STACKS; i++) {
        depth[i] = (uint32_t)(test_random(&seed) % (DEPTH + 1));
        for (uint32_t d = 0; d < depth[i]; d++)
            stacks[i][d] = (uint32_t)(test_random(&seed) % 4);
        node[i] = pgk_stack_add(&t, stacks[i], depth[i]);
        for (int j = 0; j < i; j++) {
            bool equal = depth[i] == depth[j] &&
                         !memcmp(stacks[i], stacks[j], depth[i] * sizeof **stacks);
            assert_int_equal(node[i] == node[j], equal);
        }
        uint32_t at = node[i];
        for (uint32_t d = 0; d < depth[i]; d++, at = t.nodes.v[at].parent) {
            assert_int_equal(t.nodes.v[at].frame, stacks[i][d]);
            assert_true(t.nodes.v[at].parent < at);
        }
        assert_int_equal(at, 0);
    }
    pgk_stack_tree_free(&t);
}

static void test_many_nodes(void **state)
{
    (void)state;
    struct pgk_stack_tree t;
    assert_true(pgk_stack_tree_init(&t));
    for (uint32_t i = 0; i < 200000; i++)
        assert_int_equal(pgk_stack_push(&t, i / 2, i), i + 1);
    for (uint32_t i = 0; i < 200000; i++)
        assert_int_equal(pgk_stack_push(&t, i / 2, i), i + 1);
    pgk_stack_tree_free(&t);
}

/* A tree at rest knows all once something is added. */
static void test_rest(void **state)
{
    (void)state;
    struct pgk_stack_tree t;
    assert_true(pgk_stack_tree_init(&t));
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(pgk_stack_push(&t, i / 2, i), i + 1);
    pgk_stack_tree_rest(&t);
    pgk_stack_tree_rest(&t);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(pgk_stack_push(&t, i / 2, i), i + 1);
    assert_int_equal(pgk_stack_push(&t, 0, 77), 5001);
    pgk_stack_tree_rest(&t);
    assert_true(pgk_stack_reserve(&t, 100));
    assert_int_equal(pgk_stack_push(&t, 0, 77), 5001);
    pgk_stack_tree_free(&t);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth < 12; nth++) {
        struct pgk_stack_tree t;
        pgk_mem_fail_after(nth);
        if (pgk_stack_tree_init(&t)) {
            uint32_t node = 0;
            for (uint32_t i = 0; i < 5000 && node != PGK_NODE_NONE; i++)
                node = pgk_stack_push(&t, node, i);
            pgk_mem_fail_after(0);
            /* What is in the tree is still found. */
            assert_int_equal(pgk_stack_push(&t, 0, 0), 1);
            pgk_stack_tree_free(&t);
        }
        pgk_mem_fail_after(0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_stacks_are_one_node),
        cmocka_unit_test(test_many_nodes),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
