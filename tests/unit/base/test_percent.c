/* Shares and growth in per cent. */
#include "percent.h"

#include "pgk_test.h"

static void something_of_nothing_is_a_share_without_end(void **state)
{
    (void)state;
    assert_true(pgk_percent(1, 4) == 25);
    assert_true(pgk_percent(0, 0) == 0);
    assert_true(pgk_percent(1, 0) == PGK_PERCENT_ENDLESS);
    assert_true(pgk_growth_percent(4, 5) == 25);
    assert_true(pgk_growth_percent(4, 3) == -25);
    assert_true(pgk_growth_percent(0, 0) == 0);
    assert_true(pgk_growth_percent(0, 3) == PGK_PERCENT_ENDLESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(something_of_nothing_is_a_share_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
