/* Sorted sets of numbers. */
#include "u64_set.h"

#include "pgk_test.h"

static void test_set(void **state)
{
    (void)state;
    uint64_t v[] = {7, 1, UINT64_MAX, 7, 0, 1}, want[] = {0, 1, 7, UINT64_MAX};
    assert_int_equal(pgk_u64_set(v, 6), 4);
    assert_memory_equal(v, want, sizeof want);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pgk_u64_find(v, 4, want[i]), i);
    assert_int_equal(pgk_u64_find(v, 4, 2), 4);
    assert_int_equal(pgk_u64_set(NULL, 0), 0);
    assert_int_equal(pgk_u64_find(NULL, 0, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
