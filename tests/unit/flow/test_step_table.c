/* The table of steps, while it grows. */
#include "step_table.h"

#include "pgk_test.h"

static uint32_t part(uint32_t i, uint32_t salt)
{
    return (i * 2654435761u ^ salt) & 0xfff;
}

static void test_table(void **state)
{
    (void)state;
    enum { N = 5000 };
    struct pgk_step_table t = {0};
    uint32_t distinct = 0;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < N; i++) {
            struct pgk_step_entry *e =
                pgk_step_table_need(&t, part(i, 0), part(i, 77), UINT32_MAX - i % 3);
            assert_non_null(e);
            if (!e->value)
                e->value = ++distinct;
            else
                assert_true(round || e->value < distinct);
        }
        assert_int_equal(t.used, distinct);
        assert_true(t.used <= (t.mask + 1) / 2 + 1);
    }
    for (uint32_t i = 0; i < N; i++) {
        const struct pgk_step_entry *e =
            pgk_step_table_find(&t, part(i, 0), part(i, 77), UINT32_MAX - i % 3);
        assert_true(e->value && e->from == part(i, 0) && e->to == part(i, 77));
    }
    assert_int_equal(pgk_step_table_find(&t, 0x1000, 0, 0)->value, 0);
    pgk_step_table_free(&t);
    assert_null(t.v);
}

/* An entry of zeros is like a free one, but for its value. */
static void test_zeros(void **state)
{
    (void)state;
    struct pgk_step_table t = {0};
    struct pgk_step_entry *e = pgk_step_table_need(&t, 0, 0, 0);
    assert_int_equal(e->value, 0);
    e->value = 5;
    assert_int_equal(pgk_step_table_need(&t, 0, 0, 0)->value, 5);
    assert_int_equal(t.used, 1);
    pgk_step_table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_zeros)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
