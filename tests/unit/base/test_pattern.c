/* Patterns that choose names. */
#include "pattern.h"

#include "pgk_test.h"

static void a_pattern_matches(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"oo", "foobar", true},     {"^oo", "foobar", false},   {"^foo$", "foobar", false},
        {"a|z", "foobar", true},    {"f.{4}r", "foobar", true}, {"main;f\\.c", "main;f.c", true},
        {"", "anything", true},     {NULL, "anything", false},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_pattern p;
        assert_int_equal(pgk_pattern_compile(&p, cases[i].pattern, NULL), 0);
        assert_int_equal(p.given, cases[i].pattern != NULL);
        assert_int_equal(pgk_pattern_matches(&p, cases[i].name), cases[i].matches);
        pgk_pattern_free(&p);
    }
}

static void what_is_no_pattern_is_refused(void **state)
{
    (void)state;
    struct pgk_pattern p;
    struct pgk_err err = {0};
    assert_int_equal(pgk_pattern_compile(&p, "a(b", &err), PGK_E_ARG);
    assert_string_equal(err.field, "pattern");
    assert_non_null(strstr(err.found, "a(b"));
    assert_false(p.given);
    pgk_pattern_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_matches),
        cmocka_unit_test(what_is_no_pattern_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
