/* Orders of functions: what traces are used, what is said of the others. */
#include "pgokit/function_order.h"

#include "instr_samples.h"

static struct pgk_instr *traced(const char *traces, unsigned n)
{
    char text[1000];
    struct pgk_instr *p = sample_instr();
    snprintf(text, sizeof text,
             ":ir\n:temporal_prof_traces\n%u\n%u\n%sa\n1\n1\n1\n\nb\n1\n1\n1\n\n"
             "f.c;c\n1\n1\n1\n",
             n, n, traces);
    assert_int_equal(sample_read_text(p, text, 1, NULL), 0);
    return p;
}

static void expect(const struct pgk_instr *p, const struct pgk_function_order_opts *opts,
                   const char *names, size_t unnamed)
{
    struct pgk_function_order *order;
    char found[100] = "";
    assert_int_equal(pgk_instr_order_functions(&order, p, opts, NULL), 0);
    for (size_t i = 0; i < pgk_function_order_size(order); i++) {
        size_t file;
        const char *name = pgk_function_order_at(order, i, &file);
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s/%d ", name, (int)file);
    }
    assert_string_equal(found, names);
    assert_int_equal(pgk_function_order_unnamed(order), unnamed);
    pgk_function_order_close(&order);
    pgk_function_order_close(&order);
}

static void test_names(void **state)
{
    (void)state;
    struct pgk_instr *p = traced("1\nf.c;c,a,b,\n", 1);
    expect(p, NULL, "f.c;c/3 a/0 b/0 ", 0);
    const struct pgk_function_order_opts two = {.struct_size = sizeof two, .max_trace_calls = 2};
    expect(p, &two, "f.c;c/3 a/0 ", 0);
    pgk_instr_close(&p);
    p = traced("1\nz,a,\n", 1);
    expect(p, NULL, "a/0 ", 1);
    pgk_instr_close(&p);
}

static void test_limits(void **state)
{
    (void)state;
    struct pgk_instr *p = traced("1\na,b,\n1\nf.c;c,\n", 2);
    struct pgk_function_order *order;
    struct pgk_function_order_opts opts = {.struct_size = sizeof opts, .max_traces = 1};
    expect(p, &opts, "a/0 b/0 ", 0);
    opts = (struct pgk_function_order_opts){.struct_size = sizeof opts, .test_traces = 1};
    expect(p, &opts, "a/0 b/0 ", 0);
    opts.test_traces = 2;
    assert_int_equal(pgk_instr_order_functions(&order, p, &opts, NULL), PGK_E_ARG);
    pgk_instr_close(&p);
}

/* Each call adds the pages touched so far: 1, 1, and of an unknown function nothing. */
static void test_fault_area(void **state)
{
    (void)state;
    struct pgk_instr *p = traced("1\na,b,\n1\nb,z,a,\n", 2);
    struct pgk_function_order *order;
    const struct pgk_function_order_opts opts = {.struct_size = sizeof opts, .test_traces = 1};
    assert_int_equal(pgk_instr_order_functions(&order, p, &opts, NULL), 0);
    assert_int_equal(pgk_function_order_fault_area(order), 2);
    pgk_function_order_close(&order);
    pgk_instr_close(&p);
}

static void test_no_traces(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr();
    struct pgk_function_order *order;
    struct pgk_err err = {0};
    assert_int_equal(sample_read_text(p, "a\n1\n1\n1\n", 1, NULL), 0);
    assert_int_equal(pgk_instr_order_functions(&order, p, NULL, &err), PGK_E_EMPTY);
    assert_string_equal(err.field, "temporal traces");
    pgk_instr_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_fault_area),
        cmocka_unit_test(test_no_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
