/* Balanced partitioning: a permutation, always the same, that keeps groups together. */
#include "balanced_partition.h"

#include "pgk_test.h"

static void add_group(struct pgk_bp_item *item, uint32_t group)
{
    assert_true(pgk_vec_push(&item->groups, group));
}

static void free_items(struct pgk_bp_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pgk_vec_free(&items[i].groups);
}

/* Even items are of one group, odd ones of another: they end on different sides. */
static void test_two_groups(void **state)
{
    (void)state;
    enum { N = 64 };
    struct pgk_bp_item items[N] = {0};
    for (size_t i = 0; i < N; i++) {
        items[i].id = i;
        add_group(&items[i], i % 2);
        add_group(&items[i], 7); /* of all: says nothing */
    }
    assert_int_equal(pgk_balanced_partition(items, N, NULL), 0);
    for (size_t i = 1; i < N / 2; i++) {
        assert_int_equal(items[i].id % 2, items[0].id % 2);
        assert_int_equal(items[N / 2 + i].id % 2, items[N / 2].id % 2);
    }
    assert_int_not_equal(items[0].id % 2, items[N / 2].id % 2);
    free_items(items, N);
}

/* Without groups nothing moves; every item is there once, whatever the groups. */
static void test_permutations(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (size_t n = 0; n < 200; n += 1 + n / 4)
        for (int grouped = 0; grouped < 2; grouped++) {
            struct pgk_bp_item items[200] = {0};
            bool seen[200] = {0};
            for (size_t i = 0; i < n; i++) {
                items[i].id = i;
                for (uint32_t g = 0; grouped && g < 12; g++)
                    if (test_random(&seed) % 3 == 0)
                        add_group(&items[i], g);
            }
            assert_int_equal(pgk_balanced_partition(items, n, NULL), 0);
            for (size_t i = 0; i < n; i++) {
                assert_in_range(items[i].id, 0, n - 1);
                assert_false(seen[items[i].id]);
                seen[items[i].id] = true;
                assert_true(grouped || items[i].id == i);
            }
            free_items(items, n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_groups),
        cmocka_unit_test(test_permutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
