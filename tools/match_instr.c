/* pgokit match for counters. */
#include "match_options.h"

#include <stdio.h>

static const char help[] =
    "Counters: functions and their hashes, against those that an instrumented build\n"
    "records; -b is a build by -fprofile-generate or -fprofile-instr-generate, as the\n"
    "profiled one was. Heap data of the same file is matched if there are no\n"
    "counters.\n\n";

static const char examples[] =
    "  pgokit match app.profdata -b ./app.instrumented\n";

static const struct option_group groups[] = {
    {&match_option_table, 0, 0},
    CLI_COMMON(struct match_options),
    {0},
};

static int run(int argc, char **argv)
{
    struct match_options m = {0};
    struct pgk_instr *profile = NULL;
    struct pgk_binaries *binaries = NULL;
    struct pgk_function_match *match = NULL;
    struct pgk_file *file;
    struct pgk_err err = {0};
    match_options_parse(&m, groups, argc, argv);
    match_need_binary(&m);
    int status = pgk_instr_new(&profile, &err);
    if (!status)
        status = cli_open(&file, m.print.title, &err);
    if (!status)
        status = pgk_instr_read_file(profile, file, 1, &err);
    if (!status)
        status = cli_open_binaries(&m.common, &binaries, &err);
    if (!status)
        status = pgk_match_instr(&match, profile, binaries, &err);
    if (!status)
        status = pgk_function_match_print(match, &m.print, stdout, &err);
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE)
        exit_code = match_check_limit(&m, pgk_function_match_percent(match));
    pgk_function_match_close(&match);
    pgk_binaries_close(&binaries);
    pgk_instr_close(&profile);
    match_options_free(&m);
    return exit_code;
}

const struct cli_action match_instr = {
    PGK_KIND_INSTR, help, .run = run, .groups = groups, .examples = examples};
