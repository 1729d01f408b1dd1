/* The build that sample profiles are matched with is this test itself. */
#include "pgk_test.h"
#include "pgokit/match.h"

#include <stdbool.h>
#include <stdlib.h>

static volatile long sum;

enum { ADD = __LINE__ + 1 };
__attribute__((noinline)) static void add(long n)
{
    sum += n; /* line ADD + 2 */
}

enum { TWICE = __LINE__ + 1 };
__attribute__((noinline)) static void twice(long n)
{
    add(n); /* line TWICE + 2 */
    sum ^= n;
    sum -= n;
    add(2 * n); /* line TWICE + 5 */
}

static struct pgk_sample *new_profile(void)
{
    struct pgk_sample *p;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    return p;
}

static uint32_t function(struct pgk_sample *p, const char *name)
{
    uint32_t node;
    assert_int_equal(pgk_sample_build_function(p, name, &node, NULL), 0);
    return node;
}

static void line(struct pgk_sample *p, uint32_t node, uint32_t at, uint64_t samples)
{
    assert_int_equal(pgk_sample_build_line(p, node, at, 0, samples, NULL), 0);
}

static void call(struct pgk_sample *p, uint32_t node, uint32_t at, const char *callee)
{
    assert_int_equal(pgk_sample_build_target(p, node, at, 0, callee, 1, NULL), 0);
}

static void finish(struct pgk_sample *p)
{
    assert_int_equal(pgk_sample_build_totals(p, NULL), 0);
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
}

static struct pgk_function_match *match(struct pgk_sample *p, struct pgk_err *err)
{
    struct pgk_binaries *set;
    struct pgk_function_match *m = NULL;
    finish(p);
    assert_int_equal(pgk_binaries_new(&set, NULL, NULL), 0);
    assert_int_equal(pgk_binaries_add(set, "/proc/self/exe", NULL), 0);
    int status = pgk_match_sample(&m, p, set, NULL, err);
    assert_true(status == 0 || err->status == status);
    pgk_binaries_close(&set);
    return m;
}

static struct pgk_function_totals totals(const struct pgk_function_match *m,
                                         enum pgk_match_level level)
{
    struct pgk_function_totals t = {.struct_size = sizeof t};
    pgk_function_totals(m, level, &t);
    return t;
}

static struct pgk_function_change change(const struct pgk_function_match *m, size_t i)
{
    struct pgk_function_change c = {.struct_size = sizeof c};
    pgk_function_change(m, i, &c);
    return c;
}

/* Lines at their places, a function that is gone, and line 0. */
static void levels_and_totals(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_sample *p = new_profile();
    uint32_t n = function(p, "twice");
    line(p, n, 2, 50);
    call(p, n, 2, "add");
    line(p, n, 5, 50);
    call(p, n, 5, "add");
    line(p, n, 0xffff - TWICE + 1, 3);
    line(p, function(p, "no_such_function"), 1, 7);
    struct pgk_function_match *m = match(p, &err);
    assert_non_null(m);
    assert_int_equal(totals(m, PGK_MATCH_EXACT).samples, 100);
    assert_int_equal(totals(m, PGK_MATCH_EXACT).places, 2);
    assert_int_equal(totals(m, PGK_MATCH_EXACT).functions, 1);
    assert_int_equal(totals(m, PGK_MATCH_LINE_ZERO).samples, 3);
    assert_int_equal(totals(m, PGK_MATCH_GONE).samples, 7);
    assert_int_equal(totals(m, PGK_MATCH_LEVELS).samples, 110);
    assert_true(pgk_function_match_percent(m) > 93 && pgk_function_match_percent(m) < 94);
    assert_int_equal(pgk_function_changes(m), 2);
    assert_string_equal(change(m, 0).function, "no_such_function");
    assert_int_equal(change(m, 0).level, PGK_MATCH_GONE);
    pgk_function_match_close(&m);
    assert_null(m);
    pgk_sample_close(&p);
}

/* Two calls that stood 10 lines further down; what lies between them goes with them. */
static void lines_move_with_the_calls_around_them(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_sample *p = new_profile();
    uint32_t n = function(p, "twice");
    line(p, n, 12, 50);
    call(p, n, 12, "add");
    line(p, n, 13, 9);
    line(p, n, 15, 40);
    call(p, n, 15, "add");
    struct pgk_function_match *m = match(p, &err);
    assert_non_null(m);
    assert_int_equal(totals(m, PGK_MATCH_MOVED).samples, 99);
    struct pgk_function_change c = change(m, 0);
    assert_int_equal(c.line, 12);
    assert_true(c.has_now);
    assert_int_equal(c.decl_line + c.now_line, TWICE + 2);
    assert_null(c.callee);
    pgk_function_match_close(&m);
    pgk_sample_close(&p);
}

/* Code that was inlined through a call that is a call now, and through one that is gone. */
static void inlined_code_is_as_the_calls_it_came_through(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_sample *p = new_profile();
    uint32_t caller = function(p, "twice"), inlined, lost;
    assert_int_equal(pgk_sample_build_inlinee(p, caller, 2, 0, "add", &inlined, NULL), 0);
    line(p, inlined, 2, 11);
    assert_int_equal(pgk_sample_build_inlinee(p, caller, 2, 0, "levels_and_totals", &lost, NULL),
                     0);
    line(p, lost, 0, 5);
    struct pgk_function_match *m = match(p, &err);
    assert_non_null(m);
    assert_int_equal(totals(m, PGK_MATCH_INLINING).samples, 11);
    assert_int_equal(totals(m, PGK_MATCH_FUNCTIONS).samples, 5);
    struct pgk_function_change c = change(m, 0);
    assert_string_equal(c.function, "twice");
    assert_string_equal(c.callee, "add");
    assert_int_equal(c.level, PGK_MATCH_INLINING);
    pgk_function_match_close(&m);
    pgk_sample_close(&p);
}

static struct pgk_sample *rebase(const struct pgk_sample *p, struct pgk_function_match **m)
{
    struct pgk_binaries *set;
    struct pgk_sample *rebased = NULL;
    assert_int_equal(pgk_binaries_new(&set, NULL, NULL), 0);
    assert_int_equal(pgk_binaries_add(set, "/proc/self/exe", NULL), 0);
    assert_int_equal(pgk_sample_rebase(&rebased, m, p, set, NULL, NULL), 0);
    pgk_binaries_close(&set);
    return rebased;
}

/* Lines and inlined code are at their places in this build; what is gone is in no total. */
static void rebased_to_this_build(void **state)
{
    (void)state;
    struct pgk_sample *p = new_profile();
    uint32_t n = function(p, "twice"), inlined;
    line(p, n, 12, 50);
    call(p, n, 12, "add");
    line(p, n, 15, 40);
    assert_int_equal(pgk_sample_build_inlinee(p, n, 15, 0, "add", &inlined, NULL), 0);
    line(p, inlined, 2, 11);
    line(p, inlined, 300, 5);
    line(p, function(p, "no_such_function"), 1, 7);
    finish(p);
    struct pgk_function_match *m = NULL;
    struct pgk_sample *now = rebase(p, &m);
    assert_int_equal(totals(m, PGK_MATCH_GONE).samples, 7);
    assert_int_equal(totals(m, PGK_MATCH_FUNCTIONS).samples, 5);
    assert_int_equal(pgk_sample_functions(now), 1);
    struct pgk_sample_function f = {.struct_size = sizeof f};
    uint32_t node = pgk_sample_find_function(now, "twice");
    assert_true(pgk_sample_get(now, node, &f));
    assert_int_equal(f.total, 101);
    struct pgk_sample_record r = {.struct_size = sizeof r, .node = node};
    assert_true(pgk_sample_next_record(now, &r));
    assert_int_equal(r.line, 2);
    assert_int_equal(r.count, 50);
    assert_true(pgk_sample_get(now, pgk_sample_first_inlinee(now, node), &f));
    assert_string_equal(f.name, "add");
    assert_int_equal(f.line, 5);
    assert_int_equal(f.total, 11);
    pgk_function_match_close(&m);
    pgk_sample_close(&p);
    pgk_sample_close(&now);
}

static void refused(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_sample *p = new_profile();
    assert_null(match(p, &err));
    assert_int_equal(err.status, PGK_E_EMPTY);
    pgk_sample_close(&p);
    p = new_profile();
    line(p, function(p, "main"), 1, 1);
    line(p, function(p, "of_another_program"), 1, 1);
    assert_null(match(p, &err));
    assert_int_equal(err.status, PGK_E_MISMATCH);
    pgk_sample_close(&p);
    p = new_profile();
    assert_int_equal(pgk_sample_build_kind(p, false, true, NULL), 0);
    line(p, function(p, "main"), 1, 1);
    assert_null(match(p, &err));
    assert_int_equal(err.status, PGK_E_EMPTY);
    assert_non_null(strstr(err.hint, "-fpseudo-probe-for-profiling"));
    pgk_sample_close(&p);
}

static void counters_need_an_instrumented_build(void **state)
{
    (void)state;
    const uint64_t count = 1;
    const struct pgk_instr_addition a = {
        .struct_size = sizeof a, .name = "main", .hash = 1, .counts = &count, .n_counts = 1};
    struct pgk_instr *p;
    struct pgk_binaries *set;
    struct pgk_function_match *m = NULL;
    struct pgk_err err = {0};
    assert_int_equal(pgk_instr_new(&p, NULL), 0);
    assert_int_equal(pgk_binaries_new(&set, NULL, NULL), 0);
    assert_int_equal(pgk_binaries_add(set, "/proc/self/exe", NULL), 0);
    assert_int_equal(pgk_match_instr(&m, p, set, &err), PGK_E_EMPTY);
    assert_string_equal(err.field, "functions");
    assert_int_equal(pgk_instr_build_kind(p, PGK_INSTR_IS_IR, NULL), 0);
    assert_int_equal(pgk_instr_build_function(p, &a, NULL), 0);
    assert_int_equal(pgk_match_instr(&m, p, set, &err), PGK_E_EMPTY);
    assert_string_equal(err.field, "counters");
    assert_null(m);
    pgk_binaries_close(&set);
    pgk_instr_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_and_totals),
        cmocka_unit_test(lines_move_with_the_calls_around_them),
        cmocka_unit_test(inlined_code_is_as_the_calls_it_came_through),
        cmocka_unit_test(rebased_to_this_build),
        cmocka_unit_test(refused),
        cmocka_unit_test(counters_need_an_instrumented_build),
    };
    twice(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
