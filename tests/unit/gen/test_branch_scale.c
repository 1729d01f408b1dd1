/* What counts of the branch recorder are multiplied by, and that they stay within 32 bits. */
#include "branch_scale.h"

#include "pgk_test.h"

static uint64_t scale_of(uint64_t frequency, uint64_t window)
{
    const struct pgk_branch_header head = {.frequency = frequency, .window = window};
    return pgk_branch_scale(&head);
}

/* The same time has the same weight, whatever part of it windows saw. */
static void test_scale(void **state)
{
    (void)state;
    assert_int_equal(scale_of(100, 512), 977);
    assert_int_equal(scale_of(20, 512), 4883);
    assert_int_equal(scale_of(100, 4096), 122);
    assert_int_equal(scale_of(10000, 4096), 1);
    assert_int_equal(scale_of(1, 2), PGK_BRANCHES_A_SECOND / 2);
    assert_int_equal(scale_of(0, 512), 1);
    assert_int_equal(scale_of(100, 0), 1);
    assert_int_equal(scale_of(UINT64_MAX, UINT64_MAX), 1);
}

/* A generator of one binary with two ranges and a branch. */
struct counted {
    struct pgk_gen gen;
    struct pgk_gen_binary binary;
};

static void count(struct counted *c, uint64_t scale, uint64_t often, uint64_t seldom)
{
    *c = (struct counted){.gen = {.stats = {.branch_scale = scale}}};
    assert_true(pgk_pairs_add(&c->binary.counters.ranges, 0x10, 0x20, often));
    assert_true(pgk_pairs_add(&c->binary.counters.ranges, 0x30, 0x40, seldom));
    assert_true(pgk_pairs_add(&c->binary.counters.branches, 0x20, 0x30, seldom));
    assert_true(pgk_vec_push(&c->gen.images, c->binary));
}

static void check(struct counted *c, uint64_t often, uint64_t seldom, uint64_t branches)
{
    const struct pgk_counters *is = &c->gen.images.v[0].counters;
    assert_int_equal(is->ranges.list.v[0].count, often);
    assert_int_equal(is->ranges.list.v[1].count, seldom);
    assert_int_equal(is->branches.list.v[0].count, branches);
}

static void forget(struct counted *c)
{
    pgk_counters_free(&c->gen.images.v[0].counters);
    pgk_vec_free(&c->gen.images);
}

static void test_limit(void **state)
{
    const uint64_t most = UINT32_MAX;
    struct counted c;
    (void)state;
    count(&c, 500, 500 * 70, 500);
    pgk_gen_limit_scaled(&c.gen);
    check(&c, 500 * 70, 500, 500);
    forget(&c);
    count(&c, 500, most * 9, 500); /* tenfold */
    pgk_gen_limit_scaled(&c.gen);
    check(&c, most * 9 / 10, 50, 50);
    assert_int_equal(c.gen.stats.branch_scale, 50);
    forget(&c);
    count(&c, 4, most * 9, 3); /* not below what was seen, and nothing is forgotten */
    pgk_gen_limit_scaled(&c.gen);
    check(&c, most * 9 / 4, 1, 1);
    assert_int_equal(c.gen.stats.branch_scale, 1);
    forget(&c);
}

/* Nothing of what is known from elsewhere changes. */
static void test_others(void **state)
{
    struct counted c;
    (void)state;
    count(&c, 0, UINT64_MAX, 8);
    pgk_gen_limit_scaled(&c.gen);
    check(&c, UINT64_MAX, 8, 8);
    assert_true(c.gen.unit == 1);
    forget(&c);
}

/* What one that was seen adds on average: not the common divisor of what happens to be there. */
static void test_unit(void **state)
{
    struct counted c;
    (void)state;
    count(&c, 0, 977 * 26559, 977 * 3);
    pgk_gen_note_scale(&c.gen, 977);
    pgk_gen_note_windows(&c.gen.ranges, 26559 + 3, 977);
    pgk_gen_limit_scaled(&c.gen);
    assert_true(c.gen.unit == 977);
    forget(&c);
    count(&c, 0, 1954 * 1000 + 326 * 6000, 0); /* recordings at 50 and 300 Hz */
    pgk_gen_note_windows(&c.gen.ranges, 1000, 1954);
    pgk_gen_note_windows(&c.gen.ranges, 6000, 326);
    pgk_gen_limit_scaled(&c.gen);
    assert_true((uint64_t)(c.gen.unit * 7000 + 0.5) == 1954 * 1000 + 326 * 6000);
    forget(&c);
    count(&c, 0, 977 * 1000 + 5000, 0); /* and 5,000 that perf has counted */
    pgk_gen_note_windows(&c.gen.ranges, 1000, 977);
    pgk_gen_limit_scaled(&c.gen);
    assert_true((uint64_t)(c.gen.unit * 6000 + 0.5) == 977 * 1000 + 5000);
    forget(&c);
    const uint64_t most = UINT32_MAX;
    count(&c, 500, most * 9, 500); /* a tenth is left of all */
    pgk_gen_note_windows(&c.gen.ranges, (double)(most * 9 + 500) / 500, 500);
    pgk_gen_limit_scaled(&c.gen);
    assert_int_equal((uint64_t)(c.gen.unit + 0.5), 50);
    forget(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
