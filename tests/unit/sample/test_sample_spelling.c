/* Names, places and contexts as texts spell them. */
#include "sample_spelling.h"

#include "pgk_test.h"

static void expect_line(struct pgk_line *line, const char *expected)
{
    assert_false(line->failed);
    assert_int_equal(line->bytes.n, strlen(expected));
    assert_memory_equal(line->bytes.v, expected, line->bytes.n);
    line->bytes.n = 0;
}

static void names_without_spelling_are_numbers(void **state)
{
    struct pgk_line line = {0};
    (void)state;
    pgk_put_spelling(&line, &(struct pgk_sample_name){.s = "main", .len = 4});
    expect_line(&line, "main");
    pgk_put_spelling(&line, &(struct pgk_sample_name){.guid = UINT64_MAX, .has_guid = true});
    expect_line(&line, "18446744073709551615");
    pgk_line_free(&line);
}

static void places_have_a_discriminator_if_it_is_not_0(void **state)
{
    struct pgk_line line = {0};
    (void)state;
    pgk_put_spelled_loc(&line, pgk_sample_loc(0, 0));
    expect_line(&line, "0");
    pgk_put_spelled_loc(&line, pgk_sample_loc(PGK_SAMPLE_MAX_LINE, 2));
    expect_line(&line, "65535.2");
    pgk_line_free(&line);
}

static void contexts_begin_with_the_outermost_caller(void **state)
{
    struct pgk_line line = {0};
    struct pgk_sample *p;
    (void)state;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    uint32_t outer = pgk_sample_name(p, "main", 4), inner = pgk_sample_name(p, "parse", 5);
    uint32_t top = pgk_sample_function(p, outer);
    pgk_sample_put_identity(p, top, &line);
    expect_line(&line, "main");
    uint32_t below = pgk_sample_inlinee(p, top, pgk_sample_loc(3, 1), inner);
    pgk_sample_put_identity(p, below, &line);
    expect_line(&line, "main:3.1 @ parse");
    pgk_line_free(&line);
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_without_spelling_are_numbers),
        cmocka_unit_test(places_have_a_discriminator_if_it_is_not_0),
        cmocka_unit_test(contexts_begin_with_the_outermost_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
