/* The tree of stacks against a plain list of stacks. */
#include "stack_tree.h"

#include "compiler.h"
#include "pgk_test.h"
#include "pool.h"

enum { STACKS = 3000, DEPTH = 6 };

static void equal_stacks_are_one_node(void **state)
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

static void many_nodes_are_found_again(void **state)
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
static void memory_is_let_go(void **state)
{
    (void)state;
    struct pgk_stack_tree t;
    assert_true(pgk_stack_tree_init(&t));
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(pgk_stack_push(&t, i / 2, i), i + 1);
    pgk_stack_tree_trim(&t);
    pgk_stack_tree_trim(&t);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(pgk_stack_push(&t, i / 2, i), i + 1);
    assert_int_equal(pgk_stack_push(&t, 0, 77), 5001);
    pgk_stack_tree_trim(&t);
    assert_true(pgk_stack_reserve(&t, 100));
    assert_int_equal(pgk_stack_push(&t, 0, 77), 5001);
    pgk_stack_tree_free(&t);
}

static void out_of_memory_anywhere(void **state)
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

/* Jobs push the same stacks, each from another one on. */
struct pushing {
    struct pgk_stack_tree t;
    size_t count;
    uint32_t stacks[STACKS][DEPTH], node[16][STACKS];
};

static int push_stacks(void *ctx, size_t job, unsigned worker)
{
    struct pushing *p = ctx;
    (void)worker;
    for (size_t i = 0; i < STACKS; i++) {
        size_t at = (i + job * 7) % STACKS;
        uint32_t nodes[DEPTH];
        pgk_stack_push_path_shared(&p->t, &p->count, 0, p->stacks[at], DEPTH, nodes);
        p->node[job][at] = nodes[DEPTH - 1];
    }
    return 0;
}

static void many_threads_share_a_tree(void **state)
{
    (void)state;
    static struct pushing p;
    struct pgk_stack_tree plain;
    uint64_t seed = 5;
    assert_true(pgk_stack_tree_init(&p.t) && pgk_stack_tree_init(&plain));
    assert_true(pgk_stack_reserve(&p.t, STACKS * DEPTH + 1));
    assert_true(pgk_stack_capacity(&p.t) > STACKS * DEPTH);
    for (int i = 0; i < STACKS; i++) {
        uint32_t nodes[DEPTH];
        for (int d = 0; d < DEPTH; d++)
            p.stacks[i][d] = (uint32_t)(test_random(&seed) % 4);
        assert_true(pgk_stack_push_path(&plain, 0, p.stacks[i], DEPTH, nodes));
    }
    p.count = p.t.nodes.n;
    assert_int_equal(pgk_pool_run(4, PGK_COUNTOF(p.node), push_stacks, &p), 0);
    assert_int_equal(p.count, plain.nodes.n);
    for (int i = 0; i < STACKS; i++) {
        uint32_t at = p.node[0][i];
        for (size_t job = 1; job < PGK_COUNTOF(p.node); job++)
            assert_int_equal(p.node[job][i], at);
        for (int d = DEPTH; d-- > 0; at = p.t.nodes.v[at].parent) {
            assert_int_equal(p.t.nodes.v[at].frame, p.stacks[i][d]);
            assert_true(p.t.nodes.v[at].parent < at);
        }
        assert_int_equal(at, 0);
    }
    pgk_stack_tree_free(&p.t);
    pgk_stack_tree_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_are_one_node),
        cmocka_unit_test(many_nodes_are_found_again),
        cmocka_unit_test(memory_is_let_go),
        cmocka_unit_test(many_threads_share_a_tree),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
