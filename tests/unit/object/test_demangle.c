#include "demangle.h"
#include "mem.h"
#include "pgokit/human.h"
#include "pgk_test.h"

static void expect_short(const char *name, const char *wanted)
{
    char *text = pgk_shorten_templates(name);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    pgk_mem_free(text);
}

static void template_arguments_are_left_out(void **state)
{
    (void)state;
    expect_short("a<b<c>, d>::e", "a<...>::e");
    expect_short("plain", "plain");
    expect_short("", "");
    expect_short("std::operator<< <char>", "std::operator<< <...>");
    expect_short("f<a->b>::g", "f<...>::g");
}

/* The dots are longer than what they stand for. */
static void short_arguments_do_not_overwrite_the_rest(void **state)
{
    (void)state;
    expect_short("a<b>::c<>", "a<...>::c<...>");
    expect_short("<>", "<...>");
    expect_short("a<i>b<i>c<i>d<i>e<i>", "a<...>b<...>c<...>d<...>e<...>");
}

static void names_that_do_not_close(void **state)
{
    (void)state;
    expect_short("a<b<c", "a<...");
    expect_short("a>b", "a>b");
    expect_short(">", ">");
}

static void names_for_callers_of_the_library(void **state)
{
    (void)state;
    char buf[64], small[4];
    assert_string_equal(pgk_human_function(buf, sizeof buf, "_Z3addii"), "add");
    assert_string_equal(pgk_human_function(buf, sizeof buf, "main"), "main");
    assert_string_equal(pgk_human_function(buf, sizeof buf, "_Zbroken"), "_Zbroken");
    assert_string_equal(pgk_human_function(buf, sizeof buf, "a\033b"), "a\\x1bb");
    assert_string_equal(pgk_human_function(small, sizeof small, "_ZN5shape4drawEv"), "sha");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(template_arguments_are_left_out),
        cmocka_unit_test(short_arguments_do_not_overwrite_the_rest),
        cmocka_unit_test(names_that_do_not_close),
        cmocka_unit_test(names_for_callers_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
