/* Parts of discriminators; docs/formats/profile-generation.md section 3. */
#include "discriminator.h"

#include "pgk_test.h"

static void test_base(void **state)
{
    (void)state;
    assert_int_equal(pgk_discriminator_base(0, false), 0);
    assert_int_equal(pgk_discriminator_base(2, false), 1);
    assert_int_equal(pgk_discriminator_base(4, false), 2);
    assert_int_equal(pgk_discriminator_base(1, false), 0); /* no base, perhaps copies */
    assert_int_equal(pgk_discriminator_base(0x1234, true), 0x1234);
}

static void test_copies(void **state)
{
    (void)state;
    assert_int_equal(pgk_discriminator_copies(0, false), 1);
    assert_int_equal(pgk_discriminator_copies(2, false), 1);
    assert_int_equal(pgk_discriminator_copies(1 | 4 << 2, false), 4);      /* no base, 4 copies */
    assert_int_equal(pgk_discriminator_copies(2 | (8 << 1) << 7, false), 8); /* base 1, 8 copies */
    assert_int_equal(pgk_discriminator_copies(2 | (8 << 1) << 7, true), 1);
}

static void test_probe(void **state)
{
    (void)state;
    assert_int_equal(pgk_discriminator_probe(7 | 5 << 3), 5);
    assert_int_equal(pgk_discriminator_probe(7 | 5 << 3 | 3 << 16 | 1u << 28), 5);
    assert_int_equal(pgk_discriminator_base(7 | 5 << 3 | 3 << 16 | 1u << 28, false), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
