#include "shown_names.h"
#include "shown_names.h"
#include "mem.h"
#include "pgk_test.h"

static void expect_shown(struct pgk_shown_names *n, const char *linkage, const char *wanted)
{
    const char *first = pgk_shown_name(n, linkage, strlen(linkage));
    assert_string_equal(first, wanted);
    assert_ptr_equal(pgk_shown_name(n, linkage, strlen(linkage)), first);
}

static void names_are_shown_short_and_safe(void **state)
{
    (void)state;
    struct pgk_shown_names n = {0};
    expect_shown(&n, "", "");
    expect_shown(&n, "main", "main");
    expect_shown(&n, "_ZN1a1fEi", "a::f");
    expect_shown(&n, "_ZN1aIiE1fEv", "a<int>::f");
    expect_shown(&n,
                 "_ZNSt6vectorISt4pairINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiE"
                 "SaIS7_EE3endEv",
                 "std::vector<...>::end");
    expect_shown(&n, "\033[31m", "\\x1b[31m");
    expect_shown(&n, "main", "main");
    assert_false(n.failed);
    pgk_shown_names_free(&n);
}

static void of_a_name_its_length_counts(void **state)
{
    (void)state;
    struct pgk_shown_names n = {0};
    assert_string_equal(pgk_shown_name(&n, "mainly", 4), "main");
    assert_string_equal(pgk_shown_name(&n, "mainly", 6), "mainly");
    pgk_shown_names_free(&n);
}

static void a_lack_of_memory_is_reported(void **state)
{
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        struct pgk_shown_names n = {0};
        pgk_mem_fail_after(nth);
        const char *name = pgk_shown_name(&n, "main", 4);
        pgk_mem_fail_after(0);
        bool failed = n.failed;
        assert_string_equal(name, failed ? "?" : "main");
        pgk_shown_names_free(&n);
        if (!failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_shown_short_and_safe),
        cmocka_unit_test(of_a_name_its_length_counts),
        cmocka_unit_test(a_lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
