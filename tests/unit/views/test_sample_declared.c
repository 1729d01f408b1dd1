#include "sample_declared.h"
#include "pgk_test.h"

static void lines_before_the_first_one_are_kept_in_16_bits(void **state)
{
    (void)state;
    static const struct {
        uint32_t first, offset, line;
    } cases[] = {{100, 0, 100},       {100, 12, 112},           {100, 65493, 57},
                 {100, 65536, 65636}, {100, 0x7fff, 0x7fff + 100}, {100, 0x8000, 0},
                 {100, 65436, 0},     {UINT32_MAX, 1, 0}};
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++)
        assert_int_equal(pgk_sample_file_line(cases[i].first, cases[i].offset), cases[i].line);
    assert_int_equal(pgk_sample_line_distance(65493), -43);
    assert_int_equal(pgk_sample_line_distance(25), 25);
}

static void what_has_no_debug_information_is_not_found(void **state)
{
    (void)state;
    struct pgk_sample_declared d = {0};
    for (uint64_t guid = 1; guid < 100; guid++)
        assert_true(pgk_sample_declared_want(&d, guid) && pgk_sample_declared_want(&d, guid));
    assert_int_equal(d.funcs.n, 99);
    assert_int_equal(pgk_sample_declared_read(&d, NULL, NULL), 0);
    assert_null(pgk_sample_declared_find(&d, 7));
    d.funcs.v[6].line = 3;
    assert_ptr_equal(pgk_sample_declared_find(&d, 7), &d.funcs.v[6]);
    assert_null(pgk_sample_declared_find(&d, 100));
    pgk_sample_declared_free(&d);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    for (uint64_t nth = 1, failed = 1; failed; nth++) {
        struct pgk_sample_declared d = {0};
        bool fits = true;
        pgk_mem_fail_after(nth);
        for (uint64_t guid = 1; guid < 40 && fits; guid++)
            fits = pgk_sample_declared_want(&d, guid);
        pgk_mem_fail_after(0);
        failed = !fits;
        pgk_sample_declared_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_before_the_first_one_are_kept_in_16_bits),
        cmocka_unit_test(what_has_no_debug_information_is_not_found),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
