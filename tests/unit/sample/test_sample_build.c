/* Walking and building sample profiles by the public functions: what is walked in one profile and
 * built into another gives the same text. */
#include "sample_cases.h"

static void copy_records(const struct pgk_sample *from, uint32_t node, struct pgk_sample *to,
                         uint32_t into)
{
    struct pgk_sample_record r = {.struct_size = sizeof r, .node = node};
    while (pgk_sample_next_record(from, &r)) {
        int status =
            r.kind == PGK_SAMPLE_LINE
                ? pgk_sample_build_line(to, into, r.line, r.discriminator, r.count, NULL)
            : r.kind == PGK_SAMPLE_TARGET
                ? pgk_sample_build_target(to, into, r.line, r.discriminator, r.name, r.count, NULL)
                : pgk_sample_build_type(to, into, r.line, r.discriminator, r.name, r.count, NULL);
        assert_int_equal(status, 0);
    }
}

static void copy_node(const struct pgk_sample *from, uint32_t node, struct pgk_sample *to,
                      uint32_t into, bool counts)
{
    struct pgk_sample_function f = {.struct_size = sizeof f};
    assert_true(pgk_sample_get(from, node, &f));
    if (counts)
        assert_int_equal(pgk_sample_build_counts(to, into, f.total, f.head, NULL), 0);
    if (f.checksum)
        assert_int_equal(pgk_sample_build_checksum(to, into, f.checksum, NULL), 0);
    assert_int_equal(pgk_sample_build_attributes(to, into, f.attributes, NULL), 0);
    copy_records(from, node, to, into);
    for (uint32_t c = pgk_sample_first_inlinee(from, node); c;
         c = pgk_sample_next_inlinee(from, c)) {
        uint32_t child;
        struct pgk_sample_function g = {.struct_size = sizeof g};
        assert_true(pgk_sample_get(from, c, &g) && g.inlined && g.caller == node);
        assert_int_equal(pgk_sample_build_inlinee(to, into, g.line, g.discriminator, g.name,
                                                  &child, NULL), 0);
        copy_node(from, c, to, child, counts);
    }
}

static uint32_t copy_context(const struct pgk_sample *from, uint32_t node, struct pgk_sample *to)
{
    enum { MAX = 8 };
    struct pgk_sample_call calls[MAX];
    size_t n = MAX;
    struct pgk_sample_function f = {.struct_size = sizeof f}, up = f;
    assert_true(pgk_sample_get(from, node, &f));
    up = f;
    while (up.caller) {
        uint32_t line = up.line, discriminator = up.discriminator;
        assert_true(pgk_sample_get(from, up.caller, &up));
        calls[--n] = (struct pgk_sample_call){up.name, line, discriminator};
    }
    uint32_t copy;
    assert_int_equal(pgk_sample_build_context(to, calls + n, MAX - n, f.name, &copy, NULL), 0);
    return copy;
}

/* A profile that is built from what the text has. */
static struct pgk_sample *rebuilt(const char *text, bool contexts, bool probes, bool counts)
{
    struct pgk_sample *from = case_read(text), *to;
    assert_int_equal(pgk_sample_functions(from), 0);
    assert_int_equal(pgk_sample_finish(from, NULL), 0);
    assert_int_equal(pgk_sample_new(&to, NULL), 0);
    assert_int_equal(pgk_sample_build_kind(to, contexts, probes, NULL), 0);
    for (size_t i = 0; i < pgk_sample_functions(from); i++) {
        uint32_t node = pgk_sample_function_at(from, i), copy;
        struct pgk_sample_function f = {.struct_size = sizeof f};
        assert_true(pgk_sample_get(from, node, &f));
        if (contexts)
            copy = copy_context(from, node, to);
        else
            assert_int_equal(pgk_sample_build_function(to, f.name, &copy, NULL), 0);
        copy_node(from, node, to, copy, counts);
    }
    assert_int_equal(pgk_sample_function_at(from, pgk_sample_functions(from)), 0);
    pgk_sample_close(&from);
    return to;
}

static void what_is_walked_can_be_built(void **state)
{
    (void)state;
    case_expect(rebuilt(CASE_PLAIN, false, false, true), CASE_PLAIN);
    case_expect(rebuilt(CASE_CONTEXTS, true, true, true), CASE_CONTEXTS);
    case_expect(rebuilt(CASE_PROBES, false, true, true), CASE_PROBES);
}

static void totals_are_added_where_missing(void **state)
{
    (void)state;
    struct pgk_sample *p = rebuilt("main:1:0\n 1: 5\n 2: inner:1\n  1: 7\n  3: leaf:1\n   4: 9\n",
                                   false, false, false);
    assert_int_equal(pgk_sample_build_totals(p, NULL), 0);
    case_expect(p, "main:21:0\n 1: 5\n 2: inner:16\n  1: 7\n  3: leaf:9\n   4: 9\n");
}

static void functions_and_symbols_are_found(void **state)
{
    (void)state;
    struct pgk_sample *p;
    uint32_t node;
    struct pgk_sample_function f = {.struct_size = sizeof f};
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    assert_int_equal(pgk_sample_build_function(p, "9223372036854775808", &node, NULL), 0);
    assert_int_equal(pgk_sample_build_function(p, "main", &node, NULL), 0);
    assert_int_equal(pgk_sample_build_symbol(p, "puts", NULL), 0);
    assert_int_equal(pgk_sample_find_function(p, "main"), 0); /* not finished */
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_find_function(p, "main"), node);
    assert_int_equal(pgk_sample_find_function(p, "other"), 0);
    assert_true(pgk_sample_get(p, pgk_sample_find_function(p, "9223372036854775808"), &f));
    assert_string_equal(f.name, "");
    assert_true(f.guid == UINT64_C(9223372036854775808));
    assert_true(pgk_sample_guid("9223372036854775808") == f.guid);
    assert_true(pgk_sample_guid("main") == UINT64_C(15822663052811949562));
    assert_string_equal(pgk_sample_symbol_at(p, 0), "puts");
    assert_null(pgk_sample_symbol_at(p, 1));
    assert_false(pgk_sample_get(p, 0, &f) || pgk_sample_get(p, 1000, &f));
    pgk_sample_close(&p);
}

static void expect_refused(int status, int expected, struct pgk_err *err, const char *field)
{
    assert_int_equal(status, expected);
    assert_string_equal(err->field, field);
    *err = (struct pgk_err){0};
}

static void wrong_values_are_refused(void **state)
{
    (void)state;
    struct pgk_sample *p;
    struct pgk_err err = {0};
    uint32_t f, g;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    expect_refused(pgk_sample_build_line(p, 1, 1, 0, 1, &err), PGK_E_ARG, &err, "node");
    expect_refused(pgk_sample_build_function(p, "", &f, &err), PGK_E_ARG, &err, "name");
    expect_refused(pgk_sample_build_function(p, "a\nb", &f, &err), PGK_E_ARG, &err, "name");
    assert_int_equal(pgk_sample_build_function(p, "main", &f, &err), 0);
    expect_refused(pgk_sample_build_kind(p, true, false, &err), PGK_E_MISMATCH, &err, "");
    expect_refused(pgk_sample_build_line(p, f, 65536, 0, 1, &err), PGK_E_LIMIT, &err,
                   "line offset");
    expect_refused(pgk_sample_build_context(p, NULL, 0, "x", &g, &err), PGK_E_ARG, &err, "kind");
    expect_refused(pgk_sample_build_checksum(p, f, 1, &err), PGK_E_ARG, &err, "kind");
    int status = 0;
    g = f;
    for (int i = 0; i < 2000 && !status; i++)
        status = pgk_sample_build_inlinee(p, g, 1, 0, "deep", &g, &err);
    expect_refused(status, PGK_E_LIMIT, &err, "depth");
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    expect_refused(pgk_sample_build_line(p, f, 1, 0, 1, &err), PGK_E_ARG, &err, "profile");
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_walked_can_be_built),
        cmocka_unit_test(totals_are_added_where_missing),
        cmocka_unit_test(functions_and_symbols_are_found),
        cmocka_unit_test(wrong_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
