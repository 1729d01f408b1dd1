/* When code was first seen to run. */
#include "first_runs.h"

#include "pgk_test.h"
#include "sample_origin.h"

static void the_earliest_time_counts(void **state)
{
    (void)state;
    struct pgk_first_runs runs = {0};
    assert_true(pgk_first_runs_see(&runs, 0x10, 500));
    assert_true(pgk_first_runs_see(&runs, 0x20, 100));
    assert_true(pgk_first_runs_see(&runs, 0x10, 300));
    assert_true(pgk_first_runs_see(&runs, 0x10, 400));
    assert_int_equal(runs.list.n, 2);
    assert_int_equal(runs.list.v[0].time, 300);
    assert_int_equal(runs.list.v[1].time, 100);
    pgk_first_runs_free(&runs);
}

static void recordings_have_clocks_of_their_own(void **state)
{
    (void)state;
    struct pgk_first_runs all = {0}, here = {0};
    assert_true(pgk_first_runs_see(&here, 0x10, 1000));
    assert_true(pgk_first_runs_see(&here, 0x20, 1300));
    assert_true(pgk_first_runs_move(&all, &here, 1000));
    assert_int_equal(here.list.n, 0);
    assert_true(pgk_first_runs_see(&here, 0x20, 50));
    assert_true(pgk_first_runs_move(&all, &here, 40));
    assert_int_equal(all.list.n, 2);
    assert_int_equal(all.list.v[0].time, 1);
    assert_int_equal(all.list.v[1].time, 11);
    pgk_first_runs_free(&all);
}

/* Code of no function, as of one without debug information, tells nothing. */
static void functions_have_the_earliest_of_their_code(void **state)
{
    (void)state;
    struct pgk_first_runs runs = {0};
    struct pgk_functions f = {0};
    struct pgk_sample *p;
    const char *const name = "f";
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    assert_true(pgk_vec_push(&f.ranges, (struct pgk_function_range){.low = 0x10, .high = 0x20}));
    assert_true(pgk_vec_push(&f.functions, (struct pgk_function){.name = name}));
    assert_true(pgk_first_runs_see(&runs, 0x18, 7));
    assert_true(pgk_first_runs_see(&runs, 0x10, 9));
    assert_true(pgk_first_runs_see(&runs, 0x30, 1));
    struct pgk_frame_names names = {.p = p};
    assert_true(pgk_first_runs_add_to(&runs, &f, &names, p));
    assert_int_equal(pgk_sample_origin(p, pgk_sample_name(p, name, 1)).first_run, 7);
    pgk_frame_names_free(&names);
    pgk_functions_close(&f);
    pgk_first_runs_free(&runs);
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_time_counts),
        cmocka_unit_test(recordings_have_clocks_of_their_own),
        cmocka_unit_test(functions_have_the_earliest_of_their_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
