/* Every function that takes options or a record in a struct that may grow, called by programs that
 * were compiled with other headers. Their structs are allocated to the byte, so that the address
 * sanitizer sees whoever reads behind. Public functions only. */
#include "pgk_test.h"

#include <pgokit/pgokit.h>
#include <unistd.h>

/* What the calls work on. */
static struct {
    struct pgk_heap *heap;
    struct pgk_instr *instr;
    struct pgk_sample *sample, *contexts;
    struct pgk_sample_diff *diff;
    struct pgk_binaries *binaries;
    struct pgk_binaries *self; /* this program */
    struct pgk_match *match; /* with it */
    struct pgk_function_match *functions; /* likewise */
    struct pgk_used *used;
    struct pgk_probes *probes;
    struct pgk_probe_index *index;
    FILE *out;
    struct pgk_err err;
} on;

#define PROGRAM GOLDEN "/probe/foo2-clang22"

static int binaries_new(const void *opts)
{
    struct pgk_binaries *set = NULL;
    int status = pgk_binaries_new(&set, opts, &on.err);
    pgk_binaries_close(&set);
    return status;
}

static int disasm(const void *opts)
{
    return pgk_disasm(PROGRAM, opts, on.out, NULL, &on.err);
}

static int order_functions(const void *opts)
{
    struct pgk_function_order *order = NULL;
    int status = pgk_instr_order_functions(&order, on.instr, opts, &on.err);
    pgk_function_order_close(&order);
    return status;
}

/* A program is no recording: what is refused is that, whatever the options are. */
static int gen_find_program(const void *opts)
{
    int status = pgk_gen_find_program(PROGRAM, on.binaries, opts, NULL, &on.err);
    return status == PGK_E_MISMATCH ? 0 : status;
}

static int gen_new(const void *opts)
{
    struct pgk_gen *gen = NULL;
    int status = pgk_gen_new(&gen, on.binaries, opts, &on.err);
    pgk_gen_close(&gen);
    return status;
}

/* Nothing was recorded, whatever the options are. */
static int gen_write_blocks(const void *opts)
{
    struct pgk_gen *gen = NULL;
    if (pgk_gen_new(&gen, on.binaries, NULL, &on.err))
        return 1;
    int status = pgk_gen_write_blocks(gen, 0, opts, "/dev/null", &on.err);
    pgk_gen_close(&gen);
    return status == PGK_E_EMPTY ? 0 : status;
}

static int heap_symbolise(const void *opts)
{
    struct pgk_heap *copy;
    assert_int_equal(pgk_heap_copy(&copy, on.heap, NULL), 0);
    int status = pgk_heap_symbolise(&copy, on.binaries, opts, NULL, &on.err);
    pgk_heap_close(&copy);
    return status;
}

static int heap_prune(const void *opts)
{
    struct pgk_heap *pruned = NULL;
    int status = pgk_heap_prune(&pruned, on.heap, opts, NULL, &on.err);
    pgk_heap_close(&pruned);
    return status;
}

static int heap_build(const void *allocation)
{
    return pgk_heap_build_context(on.heap, allocation, &on.err);
}

static int heap_build_call_site(const void *call)
{
    return pgk_heap_build_call_site(on.heap, call, &on.err);
}

static int heap_build_over_time(const void *times)
{
    return pgk_heap_build_over_time(on.heap, times, &on.err);
}

static int instr_build(const void *function)
{
    return pgk_instr_build_function(on.instr, function, &on.err);
}

static int indexed_write(const void *opts)
{
    return pgk_indexed_write(on.heap, on.instr, "/dev/null", opts, &on.err);
}

static int heap_print_advice(const void *opts)
{
    return pgk_heap_print_advice(on.heap, opts, on.out, &on.err);
}

static int heap_print_table(const void *opts)
{
    return pgk_heap_print_table(on.heap, opts, on.out, &on.err);
}

static int heap_print_fields(const void *opts)
{
    return pgk_heap_print_fields(on.heap, opts, on.out, &on.err);
}

static int heap_print_json(const void *opts)
{
    return pgk_heap_print_json(on.heap, opts, on.out, &on.err);
}

static int heap_print_tree(const void *opts)
{
    return pgk_heap_print_tree(on.heap, opts, on.out, &on.err);
}

static int heap_print_diff(const void *opts)
{
    return pgk_heap_print_diff(on.heap, on.heap, opts, on.out, NULL, &on.err);
}

static int heap_print_diff_markdown(const void *opts)
{
    return pgk_heap_print_diff_markdown(on.heap, on.heap, opts, on.out, NULL, &on.err);
}

static int heap_export(const void *opts)
{
    int status = pgk_heap_export(on.heap, "folded", "/dev/null", opts, &on.err);
    return status ? status : pgk_heap_export(on.heap, "html", "/dev/null", opts, &on.err);
}

static int instr_print_table(const void *opts)
{
    return pgk_instr_print_table(on.instr, opts, on.out, &on.err);
}

static int instr_print_summary(const void *opts)
{
    return pgk_instr_print_summary(on.instr, opts, on.out, &on.err);
}

static int instr_print_json(const void *opts)
{
    return pgk_instr_print_json(on.instr, opts, on.out, &on.err);
}

static int instr_print_diff(const void *opts)
{
    return pgk_instr_print_diff(on.instr, on.instr, false, false, opts, on.out, &on.err);
}

static int instr_print_diff_markdown(const void *opts)
{
    return pgk_instr_print_diff_markdown(on.instr, on.instr, false, opts, on.out, &on.err);
}

static int instr_supplement(const void *opts)
{
    return pgk_instr_supplement(on.instr, on.sample, opts, NULL, &on.err);
}

static int match_heap(const void *opts)
{
    struct pgk_match *match = NULL;
    int status = pgk_match_heap(&match, on.heap, on.self, opts, &on.err);
    pgk_match_close(&match);
    return status;
}

static int match_sample(const void *opts)
{
    struct pgk_function_match *match = NULL;
    int status = pgk_match_sample(&match, on.sample, on.self, opts, &on.err);
    pgk_function_match_close(&match);
    return status;
}

static int sample_rebase(const void *opts)
{
    struct pgk_sample *rebased = NULL;
    int status = pgk_sample_rebase(&rebased, NULL, on.sample, on.self, opts, &on.err);
    pgk_sample_close(&rebased);
    return status;
}

static int function_match_print(const void *opts)
{
    return pgk_function_match_print(on.functions, opts, on.out, &on.err);
}

static int match_print(const void *opts)
{
    return pgk_match_print(on.match, opts, on.out, &on.err);
}

static int use_classify(const void *limits)
{
    uint8_t classes[1];
    return pgk_use_classify(on.heap, limits, classes, &on.err);
}

static int used_print(const void *opts)
{
    return pgk_used_print(on.used, opts, on.out, &on.err);
}

static int plan_read(const void *opts)
{
    struct pgk_plan *plan = NULL;
    int status = pgk_plan_read(&plan, "/dev/null", on.heap, NULL, NULL, opts, &on.err);
    pgk_plan_close(&plan);
    return status;
}

static int plan_heap(const void *opts)
{
    struct pgk_plan *plan = NULL;
    int status = pgk_plan_heap(&plan, on.heap, NULL, NULL, opts, &on.err);
    pgk_plan_close(&plan);
    return status;
}

static int probes_print_table(const void *opts)
{
    return pgk_probes_print_table(on.probes, on.index, opts, on.out, &on.err);
}

static int probes_print_json(const void *opts)
{
    return pgk_probes_print_json(on.probes, on.index, opts, on.out, &on.err);
}

static int sample_print_table(const void *opts)
{
    return pgk_sample_print_table(on.sample, opts, on.out, &on.err);
}

static int sample_print_summary(const void *opts)
{
    return pgk_sample_print_summary(on.sample, opts, on.out, &on.err);
}

static int sample_print_json(const void *opts)
{
    return pgk_sample_print_json(on.sample, opts, on.out, &on.err);
}

static int sample_diff_print_table(const void *opts)
{
    return pgk_sample_diff_print_table(on.diff, opts, on.out, &on.err);
}

static int sample_diff_print_markdown(const void *opts)
{
    return pgk_sample_diff_print_markdown(on.diff, opts, on.out, &on.err);
}

static int sample_export(const void *opts)
{
    int status = pgk_sample_export(on.sample, "folded", "/dev/null", opts, &on.err);
    return status ? status : pgk_sample_export(on.sample, "html", "/dev/null", opts, &on.err);
}

static int sample_trim(const void *opts)
{
    return pgk_sample_trim(&on.contexts, opts, &on.err);
}

static int sample_write(const void *opts)
{
    return pgk_sample_write(on.sample, "/dev/null", opts, NULL, &on.err);
}

static int trial_new(const void *opts)
{
    struct pgk_trial *trial = NULL;
    int status = pgk_trial_new(&trial, opts, &on.err);
    pgk_trial_close(&trial);
    return status;
}

/* A program is no recording, and nothing of it is counted: what is refused is that. */
static int built_read(const void *opts)
{
    struct pgk_built *built = NULL;
    const int status = pgk_built_read(&built, opts, &on.err);
    pgk_built_close(&built);
    return status == PGK_E_ARG && !strcmp(on.err.field, "binaries, recordings") ? 0 : status;
}

static int trial_write_page(const void *opts)
{
    struct pgk_trial *trial = NULL;
    if (pgk_trial_new(&trial, NULL, &on.err) || pgk_trial_begin(trial, "row", 0, &on.err))
        return PGK_E_NOMEM;
    const int status = pgk_trial_write_page(trial, NULL, NULL, opts, "/dev/null", &on.err);
    pgk_trial_close(&trial);
    return status;
}

static int trial_add(const void *opts)
{
    struct pgk_trial *trial = NULL;
    if (pgk_trial_new(&trial, NULL, &on.err) || pgk_trial_begin(trial, "row", 0, &on.err))
        return 1;
    int status = pgk_trial_add(trial, opts, &on.err);
    pgk_trial_close(&trial);
    return status;
}

static const struct {
    const char *function;
    size_t size;
    int (*call)(const void *opts);
} CALLS[] = {
    {"pgk_binaries_new", sizeof(struct pgk_binaries_opts), binaries_new},
    {"pgk_disasm", sizeof(struct pgk_disasm_opts), disasm},
    {"pgk_instr_order_functions", sizeof(struct pgk_function_order_opts), order_functions},
    {"pgk_gen_find_program", sizeof(struct pgk_gen_opts), gen_find_program},
    {"pgk_gen_new", sizeof(struct pgk_gen_opts), gen_new},
    {"pgk_gen_write_blocks", sizeof(struct pgk_gen_blocks_opts), gen_write_blocks},
    {"pgk_heap_symbolise", sizeof(struct pgk_heap_symbolise_opts), heap_symbolise},
    {"pgk_heap_prune", sizeof(struct pgk_heap_prune_opts), heap_prune},
    {"pgk_heap_build_context", sizeof(struct pgk_heap_allocation), heap_build},
    {"pgk_heap_build_call_site", sizeof(struct pgk_heap_call), heap_build_call_site},
    {"pgk_heap_build_over_time", sizeof(struct pgk_heap_times), heap_build_over_time},
    {"pgk_instr_build_function", sizeof(struct pgk_instr_addition), instr_build},
    {"pgk_indexed_write", sizeof(struct pgk_indexed_write_opts), indexed_write},
    {"pgk_heap_print_advice", sizeof(struct pgk_heap_print_opts), heap_print_advice},
    {"pgk_heap_print_table", sizeof(struct pgk_heap_print_opts), heap_print_table},
    {"pgk_heap_print_fields", sizeof(struct pgk_heap_print_opts), heap_print_fields},
    {"pgk_heap_print_json", sizeof(struct pgk_heap_print_opts), heap_print_json},
    {"pgk_heap_print_tree", sizeof(struct pgk_heap_tree_opts), heap_print_tree},
    {"pgk_heap_print_diff", sizeof(struct pgk_heap_diff_opts), heap_print_diff},
    {"pgk_heap_print_diff_markdown", sizeof(struct pgk_heap_diff_opts), heap_print_diff_markdown},
    {"pgk_heap_export", sizeof(struct pgk_heap_export_opts), heap_export},
    {"pgk_instr_print_table", sizeof(struct pgk_instr_print_opts), instr_print_table},
    {"pgk_instr_print_summary", sizeof(struct pgk_instr_print_opts), instr_print_summary},
    {"pgk_instr_print_json", sizeof(struct pgk_instr_print_opts), instr_print_json},
    {"pgk_instr_print_diff", sizeof(struct pgk_instr_print_opts), instr_print_diff},
    {"pgk_instr_print_diff_markdown", sizeof(struct pgk_instr_print_opts),
     instr_print_diff_markdown},
    {"pgk_instr_supplement", sizeof(struct pgk_supplement_opts), instr_supplement},
    {"pgk_probes_print_table", sizeof(struct pgk_probes_print_opts), probes_print_table},
    {"pgk_probes_print_json", sizeof(struct pgk_probes_print_opts), probes_print_json},
    {"pgk_match_heap", sizeof(struct pgk_match_opts), match_heap},
    {"pgk_plan_heap", sizeof(struct pgk_plan_opts), plan_heap},
    {"pgk_plan_read", sizeof(struct pgk_plan_opts), plan_read},
    {"pgk_match_print", sizeof(struct pgk_match_print_opts), match_print},
    {"pgk_trial_new", sizeof(struct pgk_trial_opts), trial_new},
    {"pgk_trial_add", sizeof(struct pgk_trial_turn), trial_add},
    {"pgk_built_read", sizeof(struct pgk_built_opts), built_read},
    {"pgk_trial_write_page", sizeof(struct pgk_trial_page_opts), trial_write_page},
    {"pgk_use_classify", sizeof(struct pgk_use_limits), use_classify},
    {"pgk_used_print", sizeof(struct pgk_match_print_opts), used_print},
    {"pgk_function_match_print", sizeof(struct pgk_match_print_opts), function_match_print},
    {"pgk_sample_rebase", sizeof(struct pgk_match_opts), sample_rebase},
    {"pgk_match_sample", sizeof(struct pgk_match_opts), match_sample},
    {"pgk_sample_print_table", sizeof(struct pgk_sample_print_opts), sample_print_table},
    {"pgk_sample_print_summary", sizeof(struct pgk_sample_print_opts), sample_print_summary},
    {"pgk_sample_print_json", sizeof(struct pgk_sample_print_opts), sample_print_json},
    {"pgk_sample_diff_print_table", sizeof(struct pgk_sample_diff_print_opts),
     sample_diff_print_table},
    {"pgk_sample_diff_print_markdown", sizeof(struct pgk_sample_diff_print_opts),
     sample_diff_print_markdown},
    {"pgk_sample_export", sizeof(struct pgk_sample_export_opts), sample_export},
    {"pgk_sample_trim", sizeof(struct pgk_sample_trim_opts), sample_trim},
    {"pgk_sample_write", sizeof(struct pgk_sample_write_opts), sample_write},
};
#define N_CALLS (sizeof CALLS / sizeof *CALLS)

/* The status of a call with a struct of this size, of zeros but for its last byte. */
static int call(size_t i, size_t size, size_t claimed, uint8_t last)
{
    uint8_t *opts = calloc(1, size);
    assert_non_null(opts);
    opts[size - 1] = last;
    memcpy(opts, &claimed, sizeof claimed);
    on.err = (struct pgk_err){0};
    int status = CALLS[i].call(opts);
    free(opts);
    return status;
}

static void assert_refused(size_t i, int status)
{
    char record[80];
    snprintf(record, sizeof record, "options of %s", CALLS[i].function);
    assert_int_equal(status, PGK_E_ARG);
    assert_string_equal(on.err.record, record);
}

static void test_older_callers_get_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CALLS; i++) {
        on.err = (struct pgk_err){0};
        int status = CALLS[i].call(NULL);
        for (size_t size = sizeof(size_t); size <= CALLS[i].size; size += 4)
            if (call(i, size, size, 0) != status)
                fail_msg("%s with %zu bytes of options: %s", CALLS[i].function, size,
                         on.err.found);
    }
}

static void test_newer_callers_must_not_ask_for_what_is_unknown(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CALLS; i++) {
        size_t size = CALLS[i].size + 16;
        int status = CALLS[i].call(NULL);
        assert_int_equal(call(i, size, size, 0), status);
        assert_refused(i, call(i, size, size, 1));
    }
}

static void test_a_size_that_was_not_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CALLS; i++) {
        assert_refused(i, call(i, sizeof(size_t), 0, 0));
        assert_string_equal(on.err.field, "struct_size");
        assert_refused(i, call(i, sizeof(size_t), SIZE_MAX, 0));
    }
}

/* ---- results ---- */

static void sample_summarise(void *result)
{
    assert_int_equal(pgk_sample_summarise(on.sample, result, NULL), 0);
}

static void instr_summary(void *result)
{
    pgk_instr_summary(on.instr, false, result);
}

static void instr_overlap(void *result)
{
    assert_int_equal(pgk_instr_overlap(on.instr, on.instr, false, result, NULL), 0);
}

static void heap_same_named(void *result)
{
    assert_int_equal(pgk_heap_same_named(on.heap, result, NULL), 0);
}

static void heap_compare(void *result)
{
    assert_int_equal(pgk_heap_compare(on.heap, on.heap, result, NULL), 0);
}

static void sample_diff_figures(void *result)
{
    pgk_sample_diff_figures(on.diff, result);
}

static void match_totals(void *result)
{
    pgk_match_totals(on.match, PGK_MATCH_LEVELS, result);
}

static void match_change(void *result)
{
    assert_true(pgk_match_changes(on.match) > 0);
    pgk_match_change(on.match, 0, result);
}

static void function_totals(void *result)
{
    pgk_function_totals(on.functions, PGK_MATCH_LEVELS, result);
}

static void function_change(void *result)
{
    assert_true(pgk_function_changes(on.functions) > 0);
    pgk_function_change(on.functions, 0, result);
}

/* Structs without padding, all of whose bytes can be compared. */
static const struct {
    size_t size;
    void (*fill)(void *result);
} RESULTS[] = {
    {sizeof(struct pgk_sample_summary), sample_summarise},
    {sizeof(struct pgk_instr_summary), instr_summary},
    {sizeof(struct pgk_instr_overlap), instr_overlap},
    {sizeof(struct pgk_heap_same_named), heap_same_named},
    {sizeof(struct pgk_heap_diff_figures), heap_compare},
    {sizeof(struct pgk_sample_diff_figures), sample_diff_figures},
    {sizeof(struct pgk_match_totals), match_totals},
    {sizeof(struct pgk_match_change), match_change},
    {sizeof(struct pgk_function_totals), function_totals},
    {sizeof(struct pgk_function_change), function_change},
};

/* What a caller gets whose struct has this size, and nothing but 0xaa in it before. */
static uint8_t *result_of(size_t i, size_t size)
{
    uint8_t *result = malloc(size);
    assert_non_null(result);
    memset(result, 0xaa, size);
    memcpy(result, &size, sizeof size);
    RESULTS[i].fill(result);
    assert_memory_equal(result, &size, sizeof size);
    return result;
}

static void test_results_fit_older_and_newer_callers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof RESULTS / sizeof *RESULTS; i++) {
        static const uint8_t zeros[16];
        const size_t head = sizeof(size_t), own = RESULTS[i].size;
        uint8_t *whole = result_of(i, own), *newer = result_of(i, own + sizeof zeros);
        assert_memory_equal(newer + head, whole + head, own - head);
        assert_memory_equal(newer + own, zeros, sizeof zeros);
        for (size_t size = head; size < own; size += 4) {
            uint8_t *older = result_of(i, size);
            if (size > head)
                assert_memory_equal(older + head, whole + head, size - head);
            free(older);
        }
        free(whole);
        free(newer);
    }
}

static int make_heap(void)
{
    /* One of this program, which does not call the other. */
    const struct pgk_heap_frame frames[] = {{.function = "no_such_function", .line_offset = 1},
                                            {.function = "close_all", .line_offset = 1}};
    const struct pgk_heap_value value = {PGK_MIB_AllocCount, 1};
    const struct pgk_heap_allocation a = {.struct_size = sizeof a, .frames = frames,
                                          .n_frames = 2, .values = &value, .n_values = 1};
    int status = pgk_heap_new(&on.heap, NULL);
    return status ? status : pgk_heap_build_context(on.heap, &a, NULL);
}

static int make_match(void)
{
    int status = pgk_binaries_new(&on.self, NULL, NULL);
    if (!status)
        status = pgk_binaries_add(on.self, "/proc/self/exe", NULL);
    return status ? status : pgk_match_heap(&on.match, on.heap, on.self, NULL, NULL);
}

/* With the record of a compile that knew nothing of it. */
static int make_used(void)
{
    char folder[] = "/tmp/pgokit-used-XXXXXX", path[sizeof folder + 16];
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.used", folder);
    FILE *out = fopen(path, "w");
    if (!out)
        return -1;
    fputs("pgokit-use-record 1\nmodule a.c\nprofile heap 1 0\nlimits 1 1 0 0\n"
          "calls 0 0 0\nend\n", out);
    int status = fclose(out);
    status = status ? status : pgk_used_heap(&on.used, on.heap, folder, NULL);
    unlink(path);
    return rmdir(folder) ? -1 : status;
}

static int make_instr(void)
{
    const uint64_t counts[] = {3, 4};
    const struct pgk_instr_addition a = {.struct_size = sizeof a, .name = "main",
                                         .counts = counts, .n_counts = 2};
    int status = pgk_instr_new(&on.instr, NULL);
    if (!status)
        status = pgk_instr_build_kind(on.instr, PGK_INSTR_IS_IR, NULL);
    return status ? status : pgk_instr_build_function(on.instr, &a, NULL);
}

static int make_sample(struct pgk_sample **profile, bool contexts)
{
    uint32_t node = 0;
    int status = pgk_sample_new(profile, NULL);
    if (!status)
        status = pgk_sample_build_kind(*profile, contexts, false, NULL);
    if (!status)
        status = pgk_sample_build_function(*profile, "main", &node, NULL);
    if (!status)
        status = pgk_sample_build_line(*profile, node, 1, 0, 7, NULL);
    if (!status) /* without code */
        status = pgk_sample_build_line(*profile, node, 30000, 0, 7, NULL);
    if (!status)
        status = pgk_sample_build_totals(*profile, NULL);
    return status ? status : pgk_sample_finish(*profile, NULL);
}

static int make_all(void **state)
{
    (void)state;
    bool ok = !make_heap() && !make_match() && !make_used() && !make_instr() &&
              !make_sample(&on.sample, false) &&
              !make_sample(&on.contexts, true) &&
              !pgk_match_sample(&on.functions, on.sample, on.self, NULL, NULL) &&
              !pgk_sample_compare(&on.diff, on.sample, on.sample, NULL) &&
              !pgk_binaries_new(&on.binaries, NULL, NULL) &&
              !pgk_binaries_add(on.binaries, PROGRAM, NULL) &&
              !pgk_probes_open(&on.probes, PROGRAM, NULL) &&
              !pgk_probe_index_all(&on.index, on.probes, NULL);
    on.out = fopen("/dev/null", "w");
    return ok && on.out ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    pgk_sample_diff_close(&on.diff);
    pgk_sample_close(&on.sample);
    pgk_sample_close(&on.contexts);
    pgk_instr_close(&on.instr);
    pgk_match_close(&on.match);
    pgk_used_close(&on.used);
    pgk_function_match_close(&on.functions);
    pgk_binaries_close(&on.self);
    pgk_heap_close(&on.heap);
    pgk_probe_index_close(&on.index);
    pgk_probes_close(&on.probes);
    pgk_binaries_close(&on.binaries);
    return fclose(on.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_older_callers_get_defaults),
        cmocka_unit_test(test_newer_callers_must_not_ask_for_what_is_unknown),
        cmocka_unit_test(test_a_size_that_was_not_set),
        cmocka_unit_test(test_results_fit_older_and_newer_callers),
    };
    return cmocka_run_group_tests(tests, make_all, close_all);
}
