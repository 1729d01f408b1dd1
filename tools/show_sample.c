/* pgokit show for sample profiles. */
#include "cli.h"
#include "llvm_parts.h"
#include "output_sample.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Totals, what counts as hot and cold, then the functions with the most samples.\n"
    "With --function, one function in all its contexts, with its lines, call targets,\n"
    "types and inlinees; of an extensible binary nothing else is read. -b and --names\n"
    "spell GUIDs.\n\n";

static const char examples[] =
    "  pgokit show app.afdo\n"
    "  pgokit show app.afdo --function _ZN3net7Session5flushEv\n"
    "  pgokit show app.afdo --function '^_ZN3net'\n"
    "  pgokit show app.afdo --sections\n"
    "  pgokit show app.afdo --json | jq '.functions[0].lines'\n";

struct show {
    struct cli_common common;
    struct pgk_sample_print_opts report;
    const char *path, *function, *names;
    bool json, sections, summary, only_summary, top_given;
    struct llvm_parts llvm;
    bool flow;
    int flow_pass; /* -1: all */
};

static const struct option_row rows[] = {
    {"top", 0, "N", "functions shown (default 20; 0: all)",
     OPTION_NUMBER(struct show, report.top, 0, 1000000000), OPTION_GIVEN(struct show, top_given)},
    {"function", 0, "NAME",
     "this function only, with its lines; NAME as the linker knows it, or a context in brackets as "
     "the text format has it; or, if there is none, all functions and contexts that match; "
     "extended syntax", OPTION_TEXT(struct show, function),
     .page = "call targets, types and inlinees of all its contexts are shown. Only this part of an "
             "extensible binary is read"},
    {"sections", 0, NULL, "only the sections of an extensible binary: place, size, flags",
     OPTION_FLAG(struct show, sections)},
    {"detailed-summary", 0, NULL,
     "the summary in the words of llvm-profdata, alone or below the functions that another option "
     "chooses", OPTION_FLAG(struct show, summary), .page = "see [below](#the-summary-for-scripts)"},
    {"lines", 0, NULL, "lines of all functions shown", OPTION_FLAG(struct show, report.lines),
     .page = "with `-b`, they have their numbers in the file; without, they count from the "
             "function's first line (`+12`). Parts of a line that discriminators separate are one "
             "line; `--json` has them"},
    {"linkage-names", 0, NULL, "names as the linker knows them, not as the programmer does",
     OPTION_FLAG(struct show, report.linkage_names)},
    {"names", 0, "FILE", "names to find GUIDs among, one per line",
     OPTION_TEXT(struct show, names), .page = "`-b` takes names from binaries"},
    LLVM_PARTS_ROW(struct show, llvm),
    {"fs", 0, NULL, "discriminators are flow-sensitive, which texts do not record",
     OPTION_FLAG(struct show, flow)},
    {"fs-pass", 0, "NAME", "what a pass sees of them: base, pass1, pass2 or pass3",
     OPTION_CHOICE(struct show, flow_pass, sample_flow_passes)},
    {"json", 0, NULL, "all of it as JSON", OPTION_FLAG(struct show, json),
     .page = "see [sample-json](../formats/sample-json.md)"},
    {0},
};
static const struct option_table table = {"show samples", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct show), {0}};

static void parse(struct show *s, int argc, char **argv)
{
    s->report.struct_size = sizeof s->report;
    option_parse(&cmd_show, groups, argc, argv, s);
    cli_need_one(&cmd_show, argc - optind);
    if (s->summary && (s->json || s->sections))
        cli_usage(&cmd_show, "--detailed-summary is neither of --json nor of --sections");
    if (s->llvm.given && (s->json || s->sections || s->summary))
        cli_usage(&cmd_show, "--llvm has parts of the names json, sections and summary instead");
    s->path = s->report.title = argv[optind];
    s->only_summary = s->summary && !s->top_given && !s->function && !s->report.lines;
    s->report.lines |= s->function != NULL;
    s->report.colour = cli_colour();
    s->report.width = cli_width(STDOUT_FILENO);
    if (!s->top_given && !s->json && !s->function && !s->llvm.given)
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

static int print_llvm(const struct show *s, const struct pgk_sample *profile,
                      const struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_llvm_print_opts opts = {.struct_size = sizeof opts,
                                       .info = info,
                                       .parts = s->llvm.bits,
                                       .release = s->llvm.release,
                                       .function = s->function,
                                       .top = s->report.top};
    return pgk_sample_print_llvm(profile, &opts, stdout, err);
}

static void warn_of_passed(const struct pgk_sample *profile, const char *path)
{
    char safe[256];
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(profile, &info);
    if (info.unknown_blocks)
        fprintf(stderr, "pgokit: warning: %s has %zu section%s of types that pgokit does not know, "
                "which may change what the others mean; --show-sec-info-only lists them\n",
                pgk_human_text(safe, sizeof safe, path), info.unknown_blocks,
                info.unknown_blocks == 1 ? "" : "s");
}

static int show(const struct show *s, struct pgk_sample **profile, struct pgk_binaries **binaries,
                struct pgk_err *err)
{
    struct pgk_file *file;
    struct pgk_sample_print_opts report = s->report;
    int status = cli_open(&file, s->path, err);
    if (s->llvm.given)
        pgk_sample_pass_sections(*profile);
    if (!status)
        status = s->function && !s->llvm.given
                     ? pgk_sample_read_matching(profile, file, s->function, err)
                     : pgk_sample_read_file(*profile, file, 1, err);
    if (!status && s->flow)
        pgk_sample_mark_flow(*profile);
    if (!status && s->flow_pass >= 0)
        status = pgk_sample_reduce_flow(profile, (enum pgk_sample_flow_pass)s->flow_pass, err);
    if (!status && s->names)
        status = pgk_sample_name_from_file(*profile, s->names, err);
    if (!status && s->common.binaries.n)
        status = cli_open_binaries(&s->common, binaries, err);
    if (!status && *binaries)
        status = pgk_sample_name_from_binaries(*profile, *binaries, err);
    if (!status)
        status = pgk_sample_finish(*profile, err);
    if (status)
        return status;
    if (s->llvm.given) {
        warn_of_passed(*profile, s->path);
        return print_llvm(s, *profile, pgk_file_info(file), err);
    }
    report.info = pgk_file_info(file);
    report.of_one = s->function != NULL;
    report.binaries = *binaries;
    return print(s, *profile, &report, err);
}

static int run(int argc, char **argv)
{
    struct show s = {.flow_pass = -1};
    struct pgk_sample *profile = NULL;
    struct pgk_binaries *binaries = NULL;
    struct pgk_err err = {0};
    parse(&s, argc, argv);
    bool llvm_sections = s.llvm.bits & PGK_LLVM_SECTIONS;
    if (s.llvm.given)
        cli_for_data("-");
    else
        cli_for_people(s.json ? CLI_EXACT : CLI_PEOPLE);
    int status = pgk_sample_new(&profile, &err);
    if (!status && llvm_sections)
        status = pgk_sample_print_llvm_sections(s.path, stdout, &err);
    else if (!status && s.sections)
        status = pgk_sample_print_sections(s.path, stdout, &err);
    else if (!status)
        status = show(&s, &profile, &binaries, &err);
    pgk_sample_close(&profile);
    pgk_binaries_close(&binaries);
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    cli_common_free(&s.common);
    return exit_code;
}

const struct cli_action show_sample = {
    PGK_KIND_SAMPLE, help, .run = run, .groups = groups, .examples = examples};
