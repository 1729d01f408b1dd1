/* Sums and products that stay at the greatest number, against 128-bit arithmetic. */
#include "saturate.h"

#include "compiler.h"
#include "pgk_test.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

static uint64_t plain(wide exact)
{
    return exact > UINT64_MAX ? UINT64_MAX : (uint64_t)exact;
}

static void compare(uint64_t a, uint64_t b)
{
    assert_int_equal(pgk_add_saturated(a, b), plain((wide)a + b));
    assert_int_equal(pgk_multiply_saturated(a, b), plain((wide)a * b));
}

static void around_the_limits(void **state)
{
    (void)state;
    const uint64_t two_to_32 = (uint64_t)UINT32_MAX + 1;
    const uint64_t v[] = {0, 1, 2, 3, two_to_32 - 1, two_to_32, two_to_32 + 1, UINT64_MAX / 3,
                          UINT64_MAX / 2, UINT64_MAX / 2 + 1, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < PGK_COUNTOF(v); i++)
        for (size_t k = 0; k < PGK_COUNTOF(v); k++)
            compare(v[i], v[k]);
}

static void numbers_of_all_lengths(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < 100000; i++) {
        uint64_t v[2];
        for (int k = 0; k < 2; k++)
            v[k] = ((uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand()) >>
                   rand() % 64;
        compare(v[0], v[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(around_the_limits),
        cmocka_unit_test(numbers_of_all_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
