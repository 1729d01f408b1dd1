/* Sorted sets of numbers. */
#include "u64_set.h"

#include "compiler.h"
#include "pgk_test.h"

#include <stdlib.h>

static void numbers_are_in_the_set_once(void **state)
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

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Many numbers are sorted another way than few. */
static void many_numbers_are_found(void **state)
{
    (void)state;
    enum { N = 20000 };
    static uint64_t v[N], want[N];
    const uint64_t masks[] = {UINT64_MAX, 0xfff, 0x7fff00000000fff0, 0};
    srand(1);
    for (size_t m = 0; m < PGK_COUNTOF(masks); m++) {
        size_t n = 0;
        for (size_t i = 0; i < N; i++)
            v[i] = want[i] = ((uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand()) &
                             masks[m];
        qsort(want, N, sizeof *want, compare);
        for (size_t i = 0; i < N; i++)
            if (!n || want[n - 1] != want[i])
                want[n++] = want[i];
        assert_int_equal(pgk_u64_set(v, N), n);
        assert_memory_equal(v, want, n * sizeof *v);
        assert_int_equal(pgk_u64_set(v, n), n); /* sorted already */
        assert_memory_equal(v, want, n * sizeof *v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_in_the_set_once),
        cmocka_unit_test(many_numbers_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
