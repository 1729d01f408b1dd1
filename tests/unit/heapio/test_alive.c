/* Tests of lib/heapio/alive.c: what a context gets for objects that were never freed. */
#include "../pgk_test.h"

#include "alive.h"

static void the_first_objects_of_a_context(void **state)
{
    (void)state;
    struct pgk_mib m = {0};
    /* 4 objects of 100 bytes, born at 10, 20, 30 and 40 ms; the file ends at 125 ms. */
    assert_int_equal(pgk_alive_add(&(struct pgk_alive){4, 400, 100}, 125, &m), 4);
    assert_int_equal(m.v[PGK_MIB_AllocCount], 4);
    assert_int_equal(m.v[PGK_MIB_TotalSize], 400);
    assert_int_equal(m.v[PGK_MIB_MinSize], 100);
    assert_int_equal(m.v[PGK_MIB_MaxSize], 100);
    assert_int_equal(m.v[PGK_MIB_TotalLifetime], 400);
    assert_int_equal(m.v[PGK_MIB_MinLifetime], 100);
    assert_int_equal(m.v[PGK_MIB_AllocTimestamp], 25);
    assert_int_equal(m.v[PGK_MIB_DeallocTimestamp], 125);
    assert_true(m.known >> PGK_MIB_TotalLifetime & 1);
    assert_false(m.known >> PGK_MIB_TotalAccessCount & 1); /* nobody knows their accesses */
}

static void closed_objects_keep_their_accesses_and_mean_density(void **state)
{
    (void)state;
    struct pgk_mib m = {.known = UINT64_MAX};
    m.v[PGK_MIB_AllocCount] = 2;
    m.v[PGK_MIB_TotalSize] = 20;
    m.v[PGK_MIB_MinSize] = 4;
    m.v[PGK_MIB_MaxSize] = 16;
    m.v[PGK_MIB_MinLifetime] = 50;
    m.v[PGK_MIB_MaxLifetime] = 60;
    m.v[PGK_MIB_TotalAccessCount] = 7;
    m.v[PGK_MIB_TotalAccessDensity] = 600;
    assert_int_equal(pgk_alive_add(&(struct pgk_alive){3, 90, 30}, 20, &m), 3);
    assert_int_equal(m.v[PGK_MIB_AllocCount], 5);
    assert_int_equal(m.v[PGK_MIB_TotalSize], 110);
    assert_int_equal(m.v[PGK_MIB_MinSize], 4);
    assert_int_equal(m.v[PGK_MIB_MaxSize], 30);
    assert_int_equal(m.v[PGK_MIB_MinLifetime], 10);
    assert_int_equal(m.v[PGK_MIB_MaxLifetime], 60);
    assert_int_equal(m.v[PGK_MIB_TotalAccessCount], 7);
    assert_int_equal(m.v[PGK_MIB_TotalAccessDensity], 600 / 2 * 5);
}

/* A kill between the two counts of an object leaves -1 of them, and other nonsense. */
static void numbers_that_make_no_sense_add_nothing(void **state)
{
    (void)state;
    static const struct pgk_alive wrong[] = {{0, 5, 0}, {UINT32_MAX, 5, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pgk_mib m = {0}, none = {0};
        assert_int_equal(pgk_alive_add(&wrong[i], 100, &m), 0);
        assert_memory_equal(&m, &none, sizeof m);
    }
    /* Less than no bytes are none, and a birth behind the end is a life of none. */
    struct pgk_mib m = {0};
    assert_int_equal(pgk_alive_add(&(struct pgk_alive){1, UINT64_MAX, 200}, 100, &m), 1);
    assert_int_equal(m.v[PGK_MIB_TotalSize], 0);
    assert_int_equal(m.v[PGK_MIB_TotalLifetime], 0);
    assert_int_equal(m.v[PGK_MIB_AllocTimestamp], 100);
}

static void sums_stop_at_the_largest_number(void **state)
{
    (void)state;
    struct pgk_mib m = {.known = UINT64_MAX};
    m.v[PGK_MIB_AllocCount] = 1;
    m.v[PGK_MIB_TotalSize] = m.v[PGK_MIB_TotalAccessDensity] = UINT64_MAX - 3;
    pgk_alive_add(&(struct pgk_alive){2, 10, 0}, 0, &m);
    assert_true(m.v[PGK_MIB_TotalSize] == UINT64_MAX);
    assert_true(m.v[PGK_MIB_TotalAccessDensity] == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_objects_of_a_context),
        cmocka_unit_test(closed_objects_keep_their_accesses_and_mean_density),
        cmocka_unit_test(numbers_that_make_no_sense_add_nothing),
        cmocka_unit_test(sums_stop_at_the_largest_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
