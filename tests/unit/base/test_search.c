/* Binary search, against a walk from the start. */
#include "search.h"

#include "pgk_test.h"

#include <stdint.h>
#include <stdlib.h>

static size_t plain(const uint32_t *v, size_t n, uint32_t wanted)
{
    size_t at = 0;
    while (at < n && v[at] < wanted)
        at++;
    return at;
}

static void finds_the_first_that_is_not_before(void **state)
{
    (void)state;
    enum { MOST = 40 };
    uint32_t v[MOST];
    srand(1);
    for (size_t n = 0; n <= MOST; n++)
        for (int times = 0; times < 50; times++) {
            for (size_t i = 0; i < n; i++) /* with repeated ones */
                v[i] = (i ? v[i - 1] : 0) + (uint32_t)rand() % 3;
            for (uint32_t wanted = 0; wanted < 2 * MOST + 2; wanted++) {
                PGK_SEARCH(at, n, mid, v[mid] < wanted)
                assert_int_equal(at, plain(v, n, wanted));
            }
        }
}

static void two_in_one_block_and_few_looks(void **state)
{
    (void)state;
    size_t looks = 0, n = SIZE_MAX / 2 + 1;
    PGK_SEARCH(first, n, mid, (looks++, mid < n - 3))
    PGK_SEARCH(none, n, mid, (looks++, 1))
    assert_int_equal(first, n - 3);
    assert_int_equal(none, n);
    assert_true(looks <= 2 * 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_first_that_is_not_before),
        cmocka_unit_test(two_in_one_block_and_few_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
