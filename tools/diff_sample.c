/* pgokit diff for sample profiles. */
#include "diff_form.h"
#include "diff_limits.h"
#include "llvm_overlap_options.h"
#include "sample_input.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Similarity and overlap as llvm-profdata overlap computes them, then the\n"
    "functions or contexts whose share of all samples moved most. A function known by\n"
    "its GUID in one file and by its name in the other is one function; -b and\n"
    "--names spell what both have as GUIDs.\n\n";

static const char examples[] =
    "  pgokit diff last-week.afdo today.afdo\n"
    "  pgokit diff a.afdo b.txt --json | jq .similarity\n"
    "  pgokit diff released.afdo today.afdo --fail-on moved=2%\n";

enum { LIMIT_GROWTH, LIMIT_NEW, LIMIT_MOVED, LIMITS };
static const struct diff_limit limits[LIMITS] = {
    [LIMIT_GROWTH] = {.name = "growth", .meaning = "samples grew"},
    [LIMIT_NEW] = {.name = "new", .meaning = "samples in new functions make up"},
    [LIMIT_MOVED] = {.name = "moved", .meaning = "the share of a function moved by"},
};

struct diff {
    struct cli_common common;
    const char *paths[2];
    const char *names;
    size_t top;
    enum diff_form form;
    bool linkage_names, top_given;
    struct diff_limit limits[LIMITS];
    struct llvm_overlap_options llvm;
};

static void take_limit(const struct option_given *given)
{
    diff_limit_parse(given->into, LIMITS, given->value);
}

static const char *limit_word(size_t i)
{
    return diff_limit_word(limits, LIMITS, i);
}

static const struct option_row rows[] = {
    {"top", 0, "N", "functions listed (default 20; 0: all)",
     OPTION_NUMBER(struct diff, top, 0, 1000000000), OPTION_GIVEN(struct diff, top_given)},
    {"linkage-names", 0, NULL, "names as the linker knows them, not as the programmer does",
     OPTION_FLAG(struct diff, linkage_names)},
    {"names", 0, "FILE", "names to find GUIDs among, one per line",
     OPTION_TEXT(struct diff, names), .page = "`-b` takes the names of binaries"},
    {"fail-on", 0, "LIMIT",
     "exit status 3 if the limit is reached; may be repeated. growth=N%: more samples than before, "
     "by N % or more; new=N%: samples in new functions, N % or more of those before; moved=N%: of "
     "some function the share of all samples moved by N percentage points or more",
     OPTION_CALL_FOR(struct diff, limits, take_limit),
     OPTION_WORDS(limit_word)},
    {0},
};
static const struct option_table table = {"diff samples", NULL, rows};
static const struct option_group groups[] = {
    {&table, 0, 0},
    OPTION_GROUP(diff_form_options, struct diff, form),
    OPTION_GROUP(llvm_overlap_table, struct diff, llvm),
    CLI_COMMON(struct diff),
    {0},
};

static void parse(struct diff *d, int argc, char **argv)
{
    memcpy(d->limits, limits, sizeof limits);
    option_parse(&cmd_diff, groups, argc, argv, d);
    if (optind + 2 != argc)
        cli_usage(&cmd_diff, "diff takes two files");
    d->paths[0] = argv[optind];
    d->paths[1] = argv[optind + 1];
    if (!d->top_given && d->form != DIFF_JSON)
        d->top = 20;
    llvm_overlap_ready(&d->llvm, argv + optind, false);
    if (!d->llvm.wanted)
        diff_form_output(d->form);
}

static int read_both(const struct diff *d, struct pgk_sample *profiles[2], struct pgk_err *err)
{
    int status = 0;
    struct pgk_file *file;
    for (int i = 0; i < 2 && !status; i++) {
        status = pgk_sample_new(&profiles[i], err);
        if (!status)
            status = cli_open(&file, d->paths[i], err);
        if (!status)
            status = pgk_sample_read_file(profiles[i], file, 1, err);
        if (!status)
            status = sample_spell(profiles[i], d->names, &d->common, err);
    }
    if (!status)
        status = pgk_sample_exchange_names(profiles[0], profiles[1], err);
    for (int i = 0; i < 2 && !status; i++)
        status = pgk_sample_finish(profiles[i], err);
    return status;
}

static int print(const struct diff *d, const struct pgk_sample *base,
                 const struct pgk_sample_diff *diff, struct pgk_err *err)
{
    if (d->form == DIFF_JSON)
        return pgk_sample_diff_print_json(diff, d->top, stdout, err);
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(base, &info);
    struct pgk_sample_diff_print_opts opts = {.struct_size = sizeof opts,
                                              .top = d->top,
                                              .contexts = info.contexts,
                                              .linkage_names = d->linkage_names,
                                              .width = cli_width(STDOUT_FILENO),
                                              .colour = cli_colour(),
                                              .base_title = d->paths[0],
                                              .test_title = d->paths[1]};
    return d->form == DIFF_MARKDOWN ? pgk_sample_diff_print_markdown(diff, &opts, stdout, err)
                                    : pgk_sample_diff_print_table(diff, &opts, stdout, err);
}

static void find_figures(const struct pgk_sample_diff *diff, double found[LIMITS])
{
    struct pgk_sample_diff_figures f = {.struct_size = sizeof f};
    pgk_sample_diff_figures(diff, &f);
    found[LIMIT_GROWTH] = f.growth_percent;
    found[LIMIT_NEW] = f.new_percent;
    found[LIMIT_MOVED] = f.moved_points;
}

static int run(int argc, char **argv)
{
    struct diff d = {0};
    struct pgk_sample *profiles[2] = {NULL, NULL};
    struct pgk_sample_diff *diff = NULL;
    double found[LIMITS] = {0};
    struct pgk_err err = {0};
    parse(&d, argc, argv);
    int status = read_both(&d, profiles, &err);
    if (!status && d.llvm.wanted) {
        status = pgk_sample_print_llvm_overlap(profiles[0], profiles[1], &d.llvm.opts, stdout,
                                               &err);
        int done = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
        pgk_sample_close(&profiles[0]);
        pgk_sample_close(&profiles[1]);
        cli_common_free(&d.common);
        return done;
    }
    if (!status)
        status = pgk_sample_compare(&diff, profiles[0], profiles[1], &err);
    if (!status)
        status = print(&d, profiles[0], diff, &err);
    if (!status)
        find_figures(diff, found);
    if (!status && d.form == DIFF_MARKDOWN)
        diff_limits_print_markdown(d.limits, LIMITS, found, stdout);
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE)
        exit_code = diff_limits_check(d.limits, LIMITS, found);
    pgk_sample_diff_close(&diff);
    pgk_sample_close(&profiles[0]);
    pgk_sample_close(&profiles[1]);
    cli_common_free(&d.common);
    return exit_code;
}

const struct cli_action diff_sample = {
    PGK_KIND_SAMPLE, help, .run = run, .groups = groups, .examples = examples};
