/* pgokit diff for instrumentation profiles. */
#include "diff_form.h"
#include "heap_input.h"
#include "llvm_overlap_options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "The overlap of two profiles, as llvm-profdata overlap computes it, and the\n"
    "functions whose share of all counts changed most. Heap data of both files is\n"
    "compared, too.\n\n";

static const char examples[] =
    "  pgokit diff last-week.profdata today.profdata\n";

struct diff {
    struct cli_common common;
    struct pgk_instr_print_opts report;
    enum diff_form form;
    bool contextual;
    struct llvm_overlap_options llvm;
};

static const struct option_row rows[] = {
    {"top", 0, "N", "functions shown (default 10; 0: all)",
     OPTION_NUMBER(struct diff, report.top, 0, 1000000000)},
    {"contextual", 0, NULL, "of functions counted in their context (CSIR) instead",
     OPTION_FLAG(struct diff, contextual), .page = "`-fcs-profile-generate` counts them"},
    {0},
};
static const struct option_table table = {"diff counters", NULL, rows};
static const struct option_group groups[] = {
    {&table, 0, 0},
    OPTION_GROUP(diff_form_options, struct diff, form),
    OPTION_GROUP(llvm_overlap_table, struct diff, llvm),
    CLI_COMMON(struct diff),
    {0},
};

static int read_profile(struct pgk_instr **instr, const char *path, bool *has_heap,
                        struct pgk_err *err)
{
    struct pgk_file *file;
    int status = pgk_instr_new(instr, err);
    if (!status)
        status = cli_open(&file, path, err);
    if (status)
        return status;
    *has_heap = pgk_file_holds(file, PGK_KIND_HEAP);
    return pgk_instr_read_file(*instr, file, 1, err);
}

/* Heap data of the same two files. */
static int compare_heaps(char *const paths[2], const struct cli_common *common, size_t top,
                         enum diff_form form, struct pgk_err *err)
{
    struct heap_input before = {.show_all = true}, now = {.show_all = true};
    struct pgk_heap_diff_opts opts = {.struct_size = sizeof opts,
                                      .before_title = paths[0],
                                      .now_title = paths[1],
                                      .top = top,
                                      .depth = form == DIFF_MARKDOWN ? 4 : 12,
                                      .width = cli_width(STDOUT_FILENO),
                                      .colour = cli_colour()};
    int status = heap_input_read(&before, paths[0], common, err);
    if (!status)
        status = heap_input_read(&now, paths[1], common, err);
    if (!status)
        fputs(form == DIFF_MARKDOWN ? "\n" : "\nheap data\n\n", stdout);
    if (!status)
        status = form == DIFF_MARKDOWN
                     ? pgk_heap_print_diff_markdown(before.heap, now.heap, &opts, stdout, NULL, err)
                     : pgk_heap_print_diff(before.heap, now.heap, &opts, stdout, NULL, err);
    pgk_heap_close(&before.heap);
    pgk_heap_close(&now.heap);
    return status;
}

/* JSON has one object, and so no second part about heap data. */
static int run(int argc, char **argv)
{
    struct diff d = {.report = {.struct_size = sizeof d.report, .top = 10}};
    struct pgk_instr *base = NULL, *test = NULL;
    struct pgk_err err = {0};
    bool base_heap = false, test_heap = false;
    option_parse(&cmd_diff, groups, argc, argv, &d);
    if (optind + 2 != argc)
        cli_usage(&cmd_diff, "diff takes two files");
    d.report.colour = cli_colour();
    d.report.width = cli_width(STDOUT_FILENO);
    llvm_overlap_ready(&d.llvm, argv + optind, d.contextual);
    if (!d.llvm.wanted)
        diff_form_output(d.form);
    int status = read_profile(&base, argv[optind], &base_heap, &err);
    if (!status)
        status = read_profile(&test, argv[optind + 1], &test_heap, &err);
    if (!status && d.llvm.wanted)
        status = pgk_instr_print_llvm_overlap(base, test, &d.llvm.opts, stdout, &err);
    else if (!status)
        status = d.form == DIFF_MARKDOWN
                     ? pgk_instr_print_diff_markdown(base, test, d.contextual, &d.report, stdout,
                                                     &err)
                     : pgk_instr_print_diff(base, test, d.contextual, d.form == DIFF_JSON,
                                            &d.report, stdout, &err);
    if (!status && !d.llvm.wanted && d.form != DIFF_JSON && base_heap && test_heap)
        status = compare_heaps(argv + optind, &d.common, d.report.top, d.form, &err);
    pgk_instr_close(&base);
    pgk_instr_close(&test);
    cli_common_free(&d.common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

const struct cli_action diff_instr = {
    PGK_KIND_INSTR, help, .run = run, .groups = groups, .examples = examples};
