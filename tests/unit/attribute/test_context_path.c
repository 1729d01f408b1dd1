/* Contexts, cut to what is kept of them. */
#include "context_path.h"

#include "pgk_test.h"

static const struct pgk_context_limits ALL = {.longest = SIZE_MAX};

static void check_calls(const struct pgk_context_limits *limits, const char *calls,
                        const char *expected)
{
    uint64_t v[16];
    size_t n = strlen(calls);
    for (size_t i = 0; i < n; i++)
        v[i] = (uint64_t)calls[i];
    assert_int_equal(pgk_context_calls(limits, v, n), strlen(expected));
    for (size_t i = 0; expected[i]; i++)
        assert_int_equal(v[i], expected[i]);
}

static void test_calls(void **state)
{
    (void)state;
    struct pgk_context_limits two = {.calls = 2, .longest = SIZE_MAX}, alone = two;
    alone.calls = 1;
    check_calls(&ALL, "abbc", "abc");
    check_calls(&two, "abbc", "c");
    check_calls(&two, "", "");
    check_calls(&alone, "abbc", "");
    two.calls = 4;
    check_calls(&two, "abbc", "abc"); /* recursion first */
    two.longest = 0;
    check_calls(&two, "abbc", "bbc");
}

static void test_limits_of_options(void **state)
{
    (void)state;
    struct pgk_gen_opts o = {.struct_size = sizeof o};
    struct pgk_context_limits l = pgk_context_limits(&o);
    assert_true(!l.frames && !l.calls && l.longest == SIZE_MAX);
    o.context_depth = 3;
    o.recursion = 2;
    l = pgk_context_limits(&o);
    assert_true(l.frames == 3 && l.calls == 3 && l.longest == 2);
    o.stack_depth = 2;
    assert_int_equal(pgk_context_limits(&o).calls, 2);
    o.stack_depth = 4;
    assert_int_equal(pgk_context_limits(&o).calls, 3);
    o.keep_recursion = true;
    assert_int_equal(pgk_context_limits(&o).longest, 0);
}

/* Names and places of letters: "ab" is what a calls at place 'a'. */
static uint32_t node_of(struct pgk_context_path *path, const char *names)
{
    struct pgk_context_frame v[16];
    size_t n = strlen(names);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct pgk_context_frame){(uint64_t)names[i],
                                          pgk_sample_name(path->p, &names[i], 1)};
    return pgk_context_node(path, v, n);
}

static void test_nodes(void **state)
{
    (void)state;
    struct pgk_context_path all = {.limits = ALL}, cut = {.limits = {2, 2, SIZE_MAX}};
    assert_int_equal(pgk_sample_new(&all.p, NULL), 0);
    cut.p = all.p;
    uint32_t abc = node_of(&all, "abc"), bc = node_of(&all, "bc"), c = node_of(&all, "c");
    assert_true(abc && bc && c && abc != bc && bc != c);
    assert_int_equal(node_of(&all, "ababc"), abc);
    assert_int_equal(node_of(&all, "abc"), abc);
    assert_int_equal(node_of(&cut, "abc"), bc);
    assert_int_equal(node_of(&cut, "xbc"), bc);
    assert_int_equal(node_of(&cut, "bc"), bc);
    assert_int_equal(node_of(&cut, "c"), c);
    assert_int_equal(node_of(&cut, "abbbc"), bc);
    pgk_context_path_free(&all);
    pgk_context_path_free(&cut);
    pgk_sample_close(&all.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_limits_of_options),
        cmocka_unit_test(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
