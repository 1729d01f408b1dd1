#include "pgk_test.h"
#include "sample_figures.h"

static void add(struct pgk_sample *p, const char *function, uint32_t lines, uint64_t count)
{
    uint32_t f = pgk_sample_function(p, pgk_sample_name(p, function, strlen(function)));
    for (uint32_t line = 1; line <= lines; line++)
        assert_true(pgk_sample_add_body(p, f, pgk_sample_loc(line, 0), count));
}

static double density(struct pgk_sample *p)
{
    double d = -1;
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_density(p, &d, NULL), 0);
    return d;
}

/* Functions of 800, 195 and 5 samples: the first two have 99 % of them. */
static void density_of_a_program(void **state)
{
    struct pgk_sample *p;
    (void)state;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    add(p, "hot", 8, 100);
    add(p, "warm", 13, 15);
    add(p, "cold", 5, 1);
    assert_float_equal(density(p), 15, 0);
    uint32_t hot = pgk_sample_function(p, pgk_sample_name(p, "hot", 3));
    uint32_t inlined =
        pgk_sample_inlinee(p, hot, pgk_sample_loc(2, 0), pgk_sample_name(p, "inlined", 7));
    assert_true(pgk_sample_add_body(p, inlined, pgk_sample_loc(1, 0), 100000));
    p->finished = false;
    assert_float_equal(density(p), 100800 / 9.0, 1e-9); /* alone has 99 % now */
    pgk_sample_close(&p);
}

static void density_of_nothing(void **state)
{
    struct pgk_sample *p;
    (void)state;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    assert_float_equal(density(p), 0, 0);
    add(p, "never", 3, 0);
    p->finished = false;
    assert_float_equal(density(p), 0, 0);
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_of_a_program),
        cmocka_unit_test(density_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
