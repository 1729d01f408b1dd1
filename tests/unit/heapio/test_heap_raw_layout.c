/* What the rows say of raw heap profiles, against docs/formats/raw-heap.md. */
#include "heap_raw_layout.h"

#include "heap_samples.h"

static void a_version_without_a_row_is_not_known(void **state)
{
    (void)state;
    assert_null(pgk_raw_version(0));
    assert_null(pgk_raw_version(PGK_RAW_NOW + 1));
    assert_null(pgk_raw_version(UINT64_MAX));
}

/* Section 1. */
static void sizes_are_those_of_the_documentation(void **state)
{
    (void)state;
    const struct {
        size_t segment, mib, element;
        bool build_ids;
    } known[] = {{56, 100, 0, false}, {56, 132, 0, false}, {64, 132, 0, true},
                 {64, 144, 8, true},  {64, 144, 2, true}};
    for (size_t i = 0; i < PGK_COUNTOF(known); i++) {
        const struct pgk_raw_version *v = pgk_raw_version(i + 1);
        assert_int_equal(pgk_raw_segment_size(v), known[i].segment);
        assert_int_equal(pgk_raw_mib(v).size, known[i].mib);
        assert_int_equal(pgk_raw_element_size(v->element), known[i].element);
        assert_int_equal(pgk_raw_has_build_ids(v), known[i].build_ids);
    }
}

/* Section 8.2: what runtimes of version 1 got wrong is not known. */
static void fields_that_a_version_gets_wrong_are_not_known(void **state)
{
    (void)state;
    struct pgk_raw_mib first = pgk_raw_mib(pgk_raw_version(1)),
                       second = pgk_raw_mib(pgk_raw_version(2));
    assert_false(first.known >> PGK_MIB_MaxSize & 1);
    assert_false(first.known >> PGK_MIB_TotalAccessDensity & 1);
    assert_true(second.known >> PGK_MIB_MaxSize & 1);
    assert_false(pgk_raw_mib(pgk_raw_version(PGK_RAW_NOW)).known >> PGK_MIB_AccessHistogram & 1);
}

/* Section 4.1 */
static void elements_are_stored_like_float16(void **state)
{
    (void)state;
    const struct {
        uint64_t count;
        uint16_t code;
    } known[] = {{0, 0}, {4095, 0x0fff}, {4335, 0x1878}, {8415, 0x2838}, {200200, 0x6c39},
                 {14000200, 0xcd5b}, {UINT64_C(4095) << 15, 0xffff}, {UINT64_MAX, 0xffff}};
    for (size_t i = 0; i < PGK_COUNTOF(known); i++)
        assert_int_equal(pgk_raw_float16(known[i].count), known[i].code);
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        uint64_t count = test_random(&seed) % (UINT64_C(4095) << 15) >> i % 27,
                 back = pgk_raw_element_kept(PGK_RAW_ELEMENT_FLOAT16, count);
        uint16_t code = pgk_raw_float16(count);
        assert_true(back >= count && back - count <= count / 2048 + 1);
        assert_int_equal(pgk_raw_float16(back), code);
        assert_int_equal(pgk_raw_element(PGK_RAW_ELEMENT_FLOAT16, (const uint8_t *)&code), back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_without_a_row_is_not_known),
        cmocka_unit_test(sizes_are_those_of_the_documentation),
        cmocka_unit_test(fields_that_a_version_gets_wrong_are_not_known),
        cmocka_unit_test(elements_are_stored_like_float16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
