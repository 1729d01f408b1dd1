/* The versions of the heap data in an indexed profile. */
#include "memprof_version.h"

#include "pgk_test.h"
#include "pgokit/heap.h"

static void every_version_has_its_row(void **state)
{
    (void)state;
    for (uint32_t version = 0; version <= PGK_MEMPROF_NOW; version++) {
        const struct pgk_memprof_version *v = pgk_memprof_version(version);
        assert_non_null(v);
        assert_int_equal(v->version, version);
        assert_true(v->since <= v->until && v->since <= v->since_later);
    }
    assert_null(pgk_memprof_version(PGK_MEMPROF_NOW + 1));
    assert_null(pgk_memprof_version(UINT64_MAX));
}

/* Readers tell it from the others by the word that is missing. */
static void only_the_first_has_no_word(void **state)
{
    (void)state;
    for (uint32_t version = 0; version <= PGK_MEMPROF_NOW; version++)
        assert_int_equal(pgk_memprof_version(version)->word, version > 0);
}

static void old_versions_hold_all_fields_that_they_know(void **state)
{
    (void)state;
    const struct pgk_memprof_version *old = pgk_memprof_version(0);
    assert_true(pgk_memprof_holds(old, PGK_MIB_MinSize, false));
    assert_true(pgk_memprof_holds(old, PGK_MIB_MaxLifetimeAccessDensity, false));
    assert_false(pgk_memprof_holds(old, PGK_MIB_AccessHistogramSize, true));
}

static void new_versions_hold_what_is_chosen(void **state)
{
    (void)state;
    const struct pgk_memprof_version *new = pgk_memprof_version(PGK_MEMPROF_NOW);
    assert_false(pgk_memprof_holds(new, PGK_MIB_MinSize, false));
    assert_true(pgk_memprof_holds(new, PGK_MIB_MinSize, true));
    assert_true(pgk_memprof_holds(new, PGK_MIB_TotalSize, false));
    assert_true(pgk_memprof_holds(new, PGK_MIB_AccessHistogramSize, true));
}

static void callees_came_with_version_4(void **state)
{
    (void)state;
    for (uint32_t version = 0; version <= PGK_MEMPROF_NOW; version++)
        assert_int_equal(pgk_memprof_holds_callees(version), version == 4);
    assert_false(pgk_memprof_holds_callees(PGK_MEMPROF_NOW + 1));
}

static void releases_make_the_newest_frame_ids_that_they_know(void **state)
{
    (void)state;
    assert_int_equal(pgk_memprof_frame_ids(16), 1);
    assert_int_equal(pgk_memprof_frame_ids(21), 1);
    assert_int_equal(pgk_memprof_frame_ids(22), 2);
    assert_int_equal(pgk_memprof_frame_ids(23), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_has_its_row),
        cmocka_unit_test(only_the_first_has_no_word),
        cmocka_unit_test(old_versions_hold_all_fields_that_they_know),
        cmocka_unit_test(new_versions_hold_what_is_chosen),
        cmocka_unit_test(callees_came_with_version_4),
        cmocka_unit_test(releases_make_the_newest_frame_ids_that_they_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
