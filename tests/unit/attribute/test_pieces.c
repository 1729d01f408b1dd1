/* Ranges that overlap, as pieces that do not. */
#include "pieces.h"

#include "pgk_test.h"

static void test_overlap(void **state)
{
    (void)state;
    struct pgk_pairs ranges = {0};
    pgk_piece_vec pieces = {0};
    assert_true(pgk_pairs_add(&ranges, 10, 29, 5));
    assert_true(pgk_pairs_add(&ranges, 20, 39, 2));
    assert_true(pgk_pairs_add(&ranges, 10, 29, 1));
    assert_true(pgk_pairs_add(&ranges, 60, 60, 9));
    pgk_pairs_sort(&ranges);
    assert_true(pgk_pieces_make(&pieces, &ranges, NULL));
    const struct pgk_piece expected[] = {{10, 19, 6}, {20, 29, 8}, {30, 39, 2}, {60, 60, 9}};
    assert_int_equal(pieces.n, 4);
    assert_memory_equal(pieces.v, expected, sizeof expected);
    pgk_vec_free(&pieces);
    pgk_pairs_free(&ranges);
}

static void test_nothing(void **state)
{
    (void)state;
    struct pgk_pairs ranges = {0};
    pgk_piece_vec pieces = {0};
    assert_true(pgk_pieces_make(&pieces, &ranges, NULL));
    assert_int_equal(pieces.n, 0);
}

static void test_sums_stop(void **state)
{
    (void)state;
    struct pgk_pairs pairs = {0};
    assert_true(pgk_pairs_add(&pairs, 1, 2, UINT64_MAX - 1));
    assert_true(pgk_pairs_add(&pairs, 1, 2, 5));
    assert_true(pairs.list.v[0].count == UINT64_MAX);
    pgk_pairs_free(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_sums_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
