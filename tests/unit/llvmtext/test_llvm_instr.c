/* What is printed in the words of llvm-profdata. The texts are what llvm-profdata 22 and 19 print
 * of the same profiles. */
#include "instr_samples.h"
#include "pgokit/llvm_text.h"
#include "sample_model.h"

#define COUNTERS ":ir\nf\n10\n2\n5\n7\n\ng\n11\n1\n0\n"

static struct pgk_instr *counters(const char *text)
{
    struct pgk_instr *p = sample_instr();
    assert_int_equal(sample_read_text(p, text, 1, NULL), 0);
    return p;
}

static void assert_printed(const struct pgk_llvm_print_opts *opts, const char *want)
{
    struct pgk_instr *p = counters(COUNTERS);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(pgk_instr_print_llvm(p, opts, out, NULL), 0);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, want);
    free(text);
    pgk_instr_close(&p);
}

#define FUNCTIONS                                                                              \
    "Counters:\n  f:\n    Hash: 0x000000000000000a\n    Counters: 2\n    Block counts: [5, 7]\n" \
    "  g:\n    Hash: 0x000000000000000b\n    Counters: 1\n    Block counts: [0]\n"
#define TOTALS                                                           \
    "Total functions: 2\nMaximum function count: 5\n"                    \
    "Maximum internal block count: 7\nTotal number of blocks: 3\n"       \
    "Total count: 12\n"

static void test_words_of_releases(void **state)
{
    static const uint32_t half[] = {500000};
    struct pgk_llvm_print_opts opts = {
        .struct_size = sizeof opts,
        .parts = PGK_LLVM_ALL_FUNCTIONS | PGK_LLVM_COUNTS | PGK_LLVM_SUMMARY,
        .cutoffs = half,
        .n_cutoffs = 1};
    (void)state;
    assert_printed(&opts, FUNCTIONS
                   "Instrumentation level: IR  entry_first = 0  instrument_loop_entries = 0\n"
                   "Functions shown: 2\n" TOTALS "Detailed summary:\n"
                   "1 blocks (33.33%) with count >= 7 account for 50% of the total counts.\n");
    opts.release = 19;
    assert_printed(&opts, FUNCTIONS "Instrumentation level: IR  entry_first = 0\n"
                   "Functions shown: 2\n" TOTALS "Detailed summary:\n"
                   "1 blocks with count >= 7 account for 50 percentage of the total counts.\n");
}

static void test_lists(void **state)
{
    struct pgk_llvm_print_opts opts = {.struct_size = sizeof opts, .parts = PGK_LLVM_COVERED};
    (void)state;
    assert_printed(&opts, "f\n");
    opts.parts = 0;
    opts.top = 1;
    assert_printed(&opts,
                   "Instrumentation level: IR  entry_first = 0  instrument_loop_entries = 0\n"
                   TOTALS "Top 1 functions with the largest internal block counts: \n"
                   "  f, max count = 7\n");
    opts = (struct pgk_llvm_print_opts){.struct_size = sizeof opts, .function = "nothing"};
    assert_printed(&opts,
                   "Instrumentation level: IR  entry_first = 0  instrument_loop_entries = 0\n"
                   "Functions shown: 0\n" TOTALS);
}

static void test_overlap(void **state)
{
    struct pgk_instr *p = counters(COUNTERS);
    const struct pgk_llvm_overlap_opts opts = {
        .struct_size = sizeof opts, .base_title = "a", .test_title = "b"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    assert_non_null(out);
    assert_int_equal(pgk_instr_print_llvm_overlap(p, p, &opts, out, NULL), 0);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "Profile overlap information for base_profile: a and test_profile: b"
                              "\nProgram level:\n  # of functions overlap: 2\n"
                              "  Edge profile overlap: 100.000%\n"
                              "  Edge profile base count sum: 12\n"
                              "  Edge profile test count sum: 12\n");
    free(text);
    pgk_instr_close(&p);
}

static char *printed_samples(const struct pgk_sample *p, uint32_t parts)
{
    const struct pgk_llvm_print_opts opts = {.struct_size = sizeof opts, .parts = parts};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(pgk_sample_print_llvm(p, &opts, out, NULL), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void test_samples(void **state)
{
    struct pgk_sample *p;
    (void)state;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    uint32_t f = pgk_sample_function(p, pgk_sample_name(p, "f", 1));
    pgk_sample_add_head(p, f, 5);
    pgk_sample_add_total(p, f, 12);
    assert_true(pgk_sample_add_body(p, f, pgk_sample_loc(1, 0), 5));
    assert_true(pgk_sample_add_body(p, f, pgk_sample_loc(2, 0), 7));
    assert_true(pgk_sample_add_target(p, f, pgk_sample_loc(2, 0), pgk_sample_name(p, "g", 1), 3));
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    char *text = printed_samples(p, 0), *json = printed_samples(p, PGK_LLVM_JSON);
    assert_string_equal(text, "Function: f: 12, 5, 2 sampled lines\n"
                              "Samples collected in the function's body {\n"
                              "  1: 5\n  2: 7, calls: g:3\n}\n"
                              "No inlined callsites in this function\n");
    assert_non_null(strstr(json, "\"calls\": [\n          {\n            \"function\": \"g\""));
    free(text);
    free(json);
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_releases),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
