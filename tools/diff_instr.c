/* pgokit diff for instrumentation profiles. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "The overlap of two profiles, as llvm-profdata overlap computes it, and the functions whose\n"
    "share of all counts changed most.\n\n"
    "      --top N          functions shown (default 10; 0: all)\n"
    "      --contextual     of functions counted in their context (CSIR) instead\n"
    "      --json           as JSON (docs/formats/instr-json.md)\n"
    "\nExample:\n"
    "  pgokit diff last-week.profdata today.profdata\n";

enum { OPT_TOP = 256, OPT_JSON, OPT_CONTEXTUAL };

static const struct option options[] = {
    {"top", required_argument, NULL, OPT_TOP},
    {"json", no_argument, NULL, OPT_JSON},
    {"contextual", no_argument, NULL, OPT_CONTEXTUAL},
    CLI_COMMON_LONG,
    {0},
};

static int read_profile(struct pgk_instr **instr, const char *path, struct pgk_err *err)
{
    int status = pgk_instr_new(instr, err);
    return status ? status : pgk_instr_read(*instr, path, 1, NULL, err);
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    struct pgk_instr_report_opts report = {.struct_size = sizeof report, .top = 10};
    struct pgk_instr *base = NULL, *test = NULL;
    struct pgk_err err = {0};
    bool json = false, contextual = false;
    for (int c; (c = cli_next_option(&cmd_diff, argc, argv, "", options, &common)) != -1;) {
        if (c == OPT_TOP)
            report.top = cli_number("--top", optarg, 0, 1000000000);
        json |= c == OPT_JSON;
        contextual |= c == OPT_CONTEXTUAL;
    }
    if (optind + 2 != argc)
        cli_usage(&cmd_diff, "diff takes two files");
    int status = read_profile(&base, argv[optind], &err);
    if (!status)
        status = read_profile(&test, argv[optind + 1], &err);
    if (!status)
        status = pgk_report_instr_diff(base, test, contextual, json, &report, stdout, &err);
    pgk_instr_close(&base);
    pgk_instr_close(&test);
    cli_common_free(&common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

const struct cli_action diff_instr = {PGK_KIND_INSTR, help, "", options, run};
