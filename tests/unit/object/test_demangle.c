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

static void types_of_rust_stay(void **state)
{
    (void)state;
    expect_short("<csv::Reader<std::io::Stdin>>::next", "<csv::Reader<...>>::next");
    expect_short("<<A<u8> as B>::C as D<u8>>::f::<u8>", "<<A<...> as B>::C as D<...>>::f::<...>");
}

/* The dots are longer than what they stand for. */
static void short_arguments_do_not_overwrite_the_rest(void **state)
{
    (void)state;
    expect_short("a<b>::c<>", "a<...>::c<...>");
    expect_short("<>", "<>");
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

static void expect_name(const char *linkage, bool parameters, const char *wanted)
{
    char buf[64];
    assert_int_equal(pgk_name_demangle(linkage, parameters, buf, sizeof buf), strlen(wanted));
    assert_string_equal(buf, wanted);
}

static void names_for_programs_are_whole(void **state)
{
    (void)state;
    expect_name("_Z3addii", false, "add");
    expect_name("_Z3addii", true, "add(int, int)");
    expect_name("_ZNSt6vectorIiE9push_backERKi", true, "std::vector<int>::push_back(int const&)");
    expect_name("_RNvCs1_3abc3foo", false, "abc::foo");
    expect_name("_D8demangle4testFaZv", true, "demangle.test(char)");
    expect_name("_D8demangle4testFaZv", false, "demangle.test");
    expect_name("_D8demangle13__T4testTiTiZ4testFZv", true, "demangle.test!(int, int).test()");
    expect_name("_D8demangle13__T4testTiTiZ4testFZv", false, "demangle.test!(int, int).test");
    expect_name("_D8demangle9__T4testZv", false, "demangle.test!()");
    expect_name("_D8demangle4testi", false, "demangle.test");
    expect_name("_Data", false, "_Data");
    expect_name("_D1", false, "_D1");
    expect_name("main", true, "main");
    expect_name("_Zbroken", true, "_Zbroken");
    expect_name("a\033b", false, "a\033b");
    expect_name("", true, "");
}

/* As snprintf: the length says that it was cut. */
static void names_for_programs_fit_the_buffer(void **state)
{
    (void)state;
    char buf[6] = "xxxxx";
    assert_int_equal(pgk_name_demangle("_Z3addii", true, NULL, 0), 13);
    assert_int_equal(pgk_name_demangle("_Z3addii", true, buf, 1), 13);
    assert_string_equal(buf, "");
    assert_int_equal(pgk_name_demangle("_Z3addii", true, buf, 5), 13);
    assert_string_equal(buf, "add(");
    assert_int_equal(buf[5], '\0');
    assert_int_equal(pgk_name_demangle("_Z3addii", false, buf, 4), 3);
    assert_string_equal(buf, "add");
}

static void a_name_without_memory_is_the_linkage_name(void **state)
{
    (void)state;
    char buf[16];
    pgk_mem_fail_after(1);
    size_t n = pgk_name_demangle("_Z3addii", false, buf, sizeof buf);
    pgk_mem_fail_after(0);
    assert_int_equal(n, 8);
    assert_string_equal(buf, "_Z3addii");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(template_arguments_are_left_out),
        cmocka_unit_test(types_of_rust_stay),
        cmocka_unit_test(short_arguments_do_not_overwrite_the_rest),
        cmocka_unit_test(names_that_do_not_close),
        cmocka_unit_test(names_for_callers_of_the_library),
        cmocka_unit_test(names_for_programs_are_whole),
        cmocka_unit_test(names_for_programs_fit_the_buffer),
        cmocka_unit_test(a_name_without_memory_is_the_linkage_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
