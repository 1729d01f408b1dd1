/* Files for llvm-bolt of a few branches in a small program. */
#include "../small_program.h"

#include "bolt_write.h"

static const struct pgk_trace traces[] = {
    {PGK_TRACE_ELSEWHERE, F, F_CALL, 3, 0},
    {F_CALL, G, G, 3, 1},
    {G, H, H_RET, 3, 0},
    {H_RET, F_RET, F_RET, 3, 0}, /* returns to where a block begins */
    {F_BRANCH, F_RET, F_RET, 2, 0},
    {PGK_TRACE_ELSEWHERE, F_RET, F, 1, 0}, /* backwards */
    {PGK_TRACE_NO_BRANCH, F, F_BRANCH, 5, 0},
    {H_RET, PGK_TRACE_ELSEWHERE, PGK_TRACE_ELSEWHERE, 1, 0},
};

static const char fdata[] = "1 f 2 1 f 4 0 6\n"
                            "1 f 2 1 f 9 0 4\n"
                            "1 f 4 1 f 9 0 6\n"
                            "1 f 4 1 g 0 2 6\n"
                            "0 [unknown] 0 1 f 0 0 6\n"
                            "0 [unknown] 0 1 f 9 0 2\n"
                            "1 g 0 1 h 0 0 6\n";

static const char preaggregated[] = "B 0 2000 6 0\n"
                                    "B 0 2009 2 0\n"
                                    "B 2002 2009 4 0\n"
                                    "B 2004 2010 6 2\n"
                                    "B 2010 2020 6 0\n"
                                    "B 2022 0 2 0\n"
                                    "B 2022 2009 6 0\n"
                                    "F 2000 2002 10\n"
                                    "F 2009 2009 4\n"
                                    "f 2000 2004 6\n"
                                    "f 2009 2000 2\n"
                                    "f 2009 2009 6\n"
                                    "f 2010 2010 6\n"
                                    "f 2020 2022 6\n";

static const char no_branches[] = "no_lbr cycles:u\n"
                                  "1 f 0 7\n"
                                  "1 h 2 1\n";

static const char by_instruction[] = "E cycles:u\n"
                                     "S 2000 7\n"
                                     "S 2022 1\n";

typedef int write_fn(const struct pgk_bolt_counts *, struct pgk_sink *, struct pgk_bolt_written *,
                     struct pgk_err *);

static void check(write_fn *write, const struct pgk_bolt_counts *counts,
                  struct pgk_bolt_written *written, const char *expected)
{
    struct pgk_sink *out;
    size_t n;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(write(counts, out, written, NULL), 0);
    const uint8_t *text = pgk_sink_data(out, &n);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(text, expected, n);
    pgk_sink_drop(&out);
}

static void test_branches(void **state)
{
    (void)state;
    struct test_bytes b;
    struct pgk_elf *elf = open_small_program(&b);
    struct pgk_code code;
    struct pgk_traces t = {0};
    struct pgk_bolt_written written;
    assert_int_equal(pgk_code_open(&code, elf, NULL), 0);
    for (size_t i = 0; i < 2 * PGK_COUNTOF(traces); i++)
        assert_true(pgk_traces_add(&t, &traces[i % PGK_COUNTOF(traces)]));
    assert_int_equal(t.list.n, PGK_COUNTOF(traces));
    pgk_traces_sort(&t);
    struct pgk_bolt_counts counts = {.elf = elf, .code = &code, .traces = &t};
    check(pgk_bolt_write_fdata, &counts, &written, fdata);
    assert_int_equal(written.functions, 2);
    assert_int_equal(written.ranges, 40);
    assert_int_equal(written.ranges_bad, 2);
    assert_true(written.bad_from == F_RET && written.bad_to == F);
    check(pgk_bolt_write_preaggregated, &counts, &written, preaggregated);
    pgk_traces_free(&t);
    pgk_code_close(&code);
    pgk_elf_close(&elf);
    tb_free(&b);
}

static void test_instructions(void **state)
{
    (void)state;
    struct test_bytes b;
    struct pgk_elf *elf = open_small_program(&b);
    struct pgk_code code;
    struct pgk_traces none = {0};
    struct pgk_pairs hits = {0};
    struct pgk_intern events = {0};
    struct pgk_bolt_written written;
    assert_int_equal(pgk_code_open(&code, elf, NULL), 0);
    assert_true(pgk_pairs_add(&hits, H_RET, 0, 1) && pgk_pairs_add(&hits, F, 0, 7));
    pgk_pairs_sort(&hits);
    assert_int_equal(pgk_intern_cstr(&events, "cycles:u"), 1);
    struct pgk_bolt_counts counts = {elf, &code, &none, &hits, &events};
    check(pgk_bolt_write_fdata, &counts, &written, no_branches);
    assert_int_equal(written.functions, 2);
    check(pgk_bolt_write_preaggregated, &counts, &written, by_instruction);
    pgk_intern_free(&events);
    pgk_pairs_free(&hits);
    pgk_code_close(&code);
    pgk_elf_close(&elf);
    tb_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
