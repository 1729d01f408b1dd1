/* pgokit report for sample profiles. */
#include "export_choice.h"
#include "rebase.h"
#include "sample_input.h"

#include <stdio.h>

static const char help[] =
    "The page shows headline figures, functions by samples, calling contexts and\n"
    "inlined code as a flame graph, call targets and types of objects, what counts as\n"
    "hot, and how dense the profile is; with -b how much of the program it covers\n"
    "(docs/report.md).\n\n";

static const char examples[] =
    "  pgokit report app.afdo -b ./app -o report.html\n"
    "  pgokit report today.afdo --base last-week.afdo -o diff.html\n"
    "  pgokit report app.afdo --format pprof -o app.pb.gz\n"
    "  pgokit report app.afdo --format folded | flamegraph.pl > app.svg\n";

struct report {
    struct cli_common common;
    struct report_choice choice;
    struct cli_list sources;
    struct pgk_sample_export_opts export;
};

static const struct option_row rows[] = {
    {"source", 0, "DIR",
     "where to look for sources, besides where they were compiled; may be repeated",
     OPTION_LIST(struct report, sources),
     .page = "the whole path of a file is tried, then shorter and shorter ends of it; with -b, "
             "whose debug information says where functions are"},
    {"no-source", 0, NULL, "no excerpts of sources on the page",
     OPTION_FLAG(struct report, export.without_sources)},
    {"contexts", 0, "N",
     "functions or contexts on the page one by one (default 50000, in Markdown 10); the rest is "
     "summed up", OPTION_NUMBER(struct report, export.max_functions, 1, 10000000)},
    {0},
};
static const struct option_table table = {"report samples", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(report_choice_options, struct report, choice),
    {&table, 0, 0},
    CLI_COMMON(struct report),
    {0},
};

static void parse(struct report *r, int argc, char **argv)
{
    r->export.struct_size = sizeof r->export;
    option_parse(&cmd_report, groups, argc, argv, r);
    report_operand(&r->choice, argc, argv);
}

static int write_report(struct report *r, const struct pgk_sample *now,
                        const struct pgk_sample *base, const struct pgk_file_info *info,
                        struct pgk_err *err)
{
    struct pgk_binaries *binaries = NULL;
    struct cli_common shown = r->common;
    if (r->choice.on.n)
        shown.binaries = r->choice.on;
    if (shown.binaries.n) {
        int status = cli_open_binaries(&shown, &binaries, err);
        if (status)
            return status;
    }
    r->export.title = export_title(r->choice.path);
    r->export.info = info;
    r->export.base = base;
    r->export.base_title = r->choice.base ? export_title(r->choice.base) : NULL;
    r->export.binaries = binaries;
    r->export.source_dirs = r->sources.v;
    r->export.n_source_dirs = r->sources.n;
    int status = pgk_sample_export(now, r->choice.format, r->choice.output, &r->export, err);
    pgk_binaries_close(&binaries);
    return status;
}

static void note_no_names(const struct pgk_sample *profile)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(profile, &info);
    if (info.names_missing)
        fputs("pgokit: note: this profile has functions without names; give the binary with -b "
              "to see them\n",
              stderr);
}

/* With --on the profile at the lines of that build, without what is not there. */
static int read_profile(struct pgk_sample **profile, const char *path, const struct report *r,
                        const struct pgk_file_info **info, struct pgk_err *err)
{
    struct cli_common all = rebase_all_binaries(&r->common, &r->choice.on);
    struct rebase_builds builds;
    struct pgk_sample *rebased;
    double percent;
    int status = sample_input_read(profile, path, &all, info, err);
    cli_list_free(&all.binaries);
    if (status || !r->choice.on.n)
        return status;
    status = rebase_open(&builds, &r->choice.on, &r->common, err);
    if (!status)
        status = rebase_sample_on(&rebased, *profile, &builds, &percent, err);
    rebase_close(&builds);
    if (status)
        return status;
    pgk_sample_close(profile);
    *profile = rebased;
    if (!r->common.quiet)
        rebase_note(path, percent, "samples", r->choice.on.v[0]);
    return 0;
}

static int run(int argc, char **argv)
{
    struct report r = {0};
    struct pgk_sample *now = NULL, *base = NULL;
    const struct pgk_file_info *info = NULL;
    struct pgk_err err = {0};
    parse(&r, argc, argv);
    int status = read_profile(&now, r.choice.path, &r, &info, &err);
    if (!status && r.choice.base)
        status = read_profile(&base, r.choice.base, &r, NULL, &err);
    if (!status) {
        if (!r.common.quiet && !cli_has_binaries(&r.common))
            note_no_names(now);
        status = write_report(&r, now, base, info, &err);
    }
    if (!status && !r.common.quiet)
        report_note_output(&r.choice);
    pgk_sample_close(&now);
    pgk_sample_close(&base);
    cli_list_free(&r.choice.on);
    cli_list_free(&r.sources);
    cli_common_free(&r.common);
    return status ? cli_fail(&err) : EXIT_DONE;
}

const struct cli_action report_sample = {
    PGK_KIND_SAMPLE, help, .run = run, .groups = groups, .examples = examples};
