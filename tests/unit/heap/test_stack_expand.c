/* Replacing frames front to back against adding stack by stack. */
#include "stack_tree.h"

#include "pgk_test.h"
#include "stack_order.h"

enum { NODES = 3000, FRAMES = 7, NEW_FRAMES = 5, MOST = 3 };

static void random_tree(struct pgk_stack_tree *t, uint64_t seed, uint64_t branchy)
{
    assert_true(pgk_stack_tree_init(t));
    for (int i = 0; i < NODES; i++) {
        uint32_t n = (uint32_t)t->nodes.n, any = (uint32_t)(test_random(&seed) % n),
                 parent = test_random(&seed) % branchy ? n - 1 : any;
        assert_int_not_equal(
            pgk_stack_push(t, parent, (uint32_t)(test_random(&seed) % FRAMES)), PGK_NODE_NONE);
    }
}

/* Each frame becomes up to MOST others. */
static void random_map(struct pgk_frame_map *map, uint64_t seed, uint64_t least)
{
    assert_true(pgk_vec_push(&map->first, 0));
    for (int f = 0; f < FRAMES; f++) {
        for (uint64_t n = least + test_random(&seed) % (MOST + 1 - least); n; n--)
            assert_true(pgk_vec_push(&map->frames, (uint32_t)(test_random(&seed) % NEW_FRAMES)));
        assert_true(pgk_vec_push(&map->first, (uint32_t)map->frames.n));
    }
}

static uint32_t add_plainly(struct pgk_stack_tree *to, const struct pgk_stack_tree *from,
                            const struct pgk_frame_map *map, const uint32_t *plain, uint32_t node)
{
    uint32_t frame = from->nodes.v[node].frame, at = plain[from->nodes.v[node].parent];
    for (uint32_t i = map->first.v[frame + 1]; i > map->first.v[frame]; i--)
        at = pgk_stack_push(to, at, map->frames.v[i - 1]);
    return at;
}

/* Same frames from the node to the root. */
static bool same_stack(const struct pgk_stack_tree *a, uint32_t i, const struct pgk_stack_tree *b,
                       uint32_t j)
{
    for (; i && j && a->nodes.v[i].frame == b->nodes.v[j].frame;
         i = a->nodes.v[i].parent, j = b->nodes.v[j].parent)
        continue;
    return !i && !j;
}

static void stacks_expand_like_one_by_one(void **state)
{
    (void)state;
    static uint32_t plain[NODES + 1], moved[NODES + 1];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pgk_stack_tree from, to, want;
        struct pgk_frame_map map = {0};
        random_tree(&from, seed, 1 + seed % 5);
        random_map(&map, seed, seed % 2);
        assert_true(pgk_stack_tree_init(&to) && pgk_stack_tree_init(&want));
        assert_true(pgk_stack_expand(&to, &from, &map, moved));
        for (uint32_t i = 1; i < from.nodes.n; i++)
            plain[i] = add_plainly(&want, &from, &map, plain, i);
        /* As many nodes and the same stacks: no stack became two, and none is made up. */
        assert_int_equal(to.nodes.n, want.nodes.n);
        for (uint32_t i = 0; i < from.nodes.n; i++)
            assert_true(same_stack(&to, moved[i], &want, plain[i]));
        assert_true(stacks_in_order(&to));
        /* It can be added to. */
        for (uint32_t i = 1; i < to.nodes.n; i++)
            assert_int_equal(pgk_stack_push(&to, to.nodes.v[i].parent, to.nodes.v[i].frame), i);
        pgk_stack_tree_free(&from);
        pgk_stack_tree_free(&to);
        pgk_stack_tree_free(&want);
        pgk_vec_free(&map.first);
        pgk_vec_free(&map.frames);
    }
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    static uint32_t moved[NODES + 1];
    struct pgk_stack_tree from;
    struct pgk_frame_map map = {0};
    bool ok = false;
    random_tree(&from, 3, 3);
    random_map(&map, 3, 0);
    for (uint64_t nth = 1; !ok; nth++) {
        struct pgk_stack_tree to;
        assert_true(pgk_stack_tree_init(&to));
        pgk_mem_fail_after(nth);
        ok = pgk_stack_expand(&to, &from, &map, moved);
        pgk_mem_fail_after(0);
        assert_true(ok || nth < 200);
        pgk_stack_tree_free(&to);
    }
    pgk_stack_tree_free(&from);
    pgk_vec_free(&map.first);
    pgk_vec_free(&map.frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_expand_like_one_by_one),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
