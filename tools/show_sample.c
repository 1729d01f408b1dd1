/* pgokit show for sample profiles. */
#include "sample_input.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "Totals, what counts as hot and cold, then the functions with the most samples. With\n"
    "--function, one function in all its contexts, with its lines, call targets, types and\n"
    "inlinees; of an extensible binary nothing else is read. -b and --names spell GUIDs.\n\n"
    "      --top N          functions shown (default 20; 0: all)\n"
    "      --function NAME  this function only, with its lines; NAME as the linker knows it,\n"
    "                       or a context in brackets as the text format has it; or, if there\n"
    "                       is none, all functions and contexts that match; extended syntax\n"
    "      --sections       only the sections of an extensible binary: place, size, flags\n"
    "      --detailed-summary  the summary in the words of llvm-profdata, alone or below the\n"
    "                       functions that another option chooses\n"
    "      --lines          lines of all functions shown\n"
    "      --linkage-names  names as the linker knows them, not as the programmer does\n"
    "      --names FILE     names to find GUIDs among, one per line\n"
    "      --json           all of it as JSON (docs/formats/sample-json.md)\n"
    "\nExamples:\n"
    "  pgokit show app.afdo\n"
    "  pgokit show app.afdo --function _ZN3net7Session5flushEv\n"
    "  pgokit show app.afdo --function '^_ZN3net'\n"
    "  pgokit show app.afdo --sections\n"
    "  pgokit show app.afdo --json | jq '.functions[0].lines'\n";

enum { OPT_TOP = 256, OPT_JSON, OPT_ONE, OPT_LINES, OPT_LINKAGE, OPT_NAMES, OPT_SECTIONS,
       OPT_SUMMARY };

static const struct option options[] = {
    {"top", required_argument, NULL, OPT_TOP},
    {"json", no_argument, NULL, OPT_JSON},
    {"function", required_argument, NULL, OPT_ONE},
    {"lines", no_argument, NULL, OPT_LINES},
    {"linkage-names", no_argument, NULL, OPT_LINKAGE},
    {"names", required_argument, NULL, OPT_NAMES},
    {"sections", no_argument, NULL, OPT_SECTIONS},
    {"detailed-summary", no_argument, NULL, OPT_SUMMARY},
    CLI_COMMON_LONG,
    {0},
};

struct show {
    struct cli_common common;
    struct pgk_sample_print_opts report;
    const char *path, *function, *names;
    bool json, sections, summary, only_summary;
};

static void parse(struct show *s, int argc, char **argv)
{
    bool top_given = false;
    s->report.struct_size = sizeof s->report;
    for (int c; (c = cli_next_option(&cmd_show, argc, argv, "", options, &s->common)) != -1;) {
        switch (c) {
        case OPT_TOP:
            s->report.top = cli_number("--top", optarg, 0, 1000000000);
            top_given = true;
            break;
        case OPT_JSON:
            s->json = true;
            break;
        case OPT_ONE:
            s->function = optarg;
            break;
        case OPT_LINES:
            s->report.lines = true;
            break;
        case OPT_LINKAGE:
            s->report.linkage_names = true;
            break;
        case OPT_NAMES:
            s->names = optarg;
            break;
        case OPT_SECTIONS:
            s->sections = true;
            break;
        case OPT_SUMMARY:
            s->summary = true;
            break;
        }
    }
    if (optind + 1 != argc)
        cli_usage(&cmd_show, "show takes one file");
    if (s->summary && (s->json || s->sections))
        cli_usage(&cmd_show, "--detailed-summary is neither of --json nor of --sections");
    s->path = s->report.title = argv[optind];
    s->only_summary = s->summary && !top_given && !s->function && !s->report.lines;
    s->report.lines |= s->function != NULL;
    if (!top_given && !s->json && !s->function)
        s->report.top = 20;
}

static int print(const struct show *s, const struct pgk_sample *profile,
                 const struct pgk_sample_print_opts *report, struct pgk_err *err)
{
    if (s->json)
        return pgk_sample_print_json(profile, report, stdout, err);
    int status = s->only_summary ? 0 : pgk_sample_print_table(profile, report, stdout, err);
    return !status && s->summary ? pgk_sample_print_summary(profile, report, stdout, err) : status;
}

static int show(const struct show *s, struct pgk_sample **profile, struct pgk_err *err)
{
    struct pgk_file *file;
    struct pgk_sample_print_opts report = s->report;
    int status = cli_open(&file, s->path, err);
    if (!status)
        status = s->function ? pgk_sample_read_matching(profile, file, s->function, err)
                             : pgk_sample_read_file(*profile, file, 1, err);
    if (!status)
        status = sample_spell(*profile, s->names, &s->common, err);
    if (!status)
        status = pgk_sample_finish(*profile, err);
    if (status)
        return status;
    report.info = pgk_file_info(file);
    report.of_one = s->function != NULL;
    return print(s, *profile, &report, err);
}

static int run(int argc, char **argv)
{
    struct show s = {0};
    struct pgk_sample *profile = NULL;
    struct pgk_err err = {0};
    parse(&s, argc, argv);
    int status = pgk_sample_new(&profile, &err);
    if (!status && s.sections)
        status = pgk_sample_print_sections(s.path, stdout, &err);
    else if (!status)
        status = show(&s, &profile, &err);
    pgk_sample_close(&profile);
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    cli_common_free(&s.common);
    return exit_code;
}

const struct cli_action show_sample = {PGK_KIND_SAMPLE, help, "", options, run};
