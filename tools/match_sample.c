/* pgokit match for sample profiles. */
#include "match_options.h"
#include "sample_input.h"

#include <stdio.h>

static const char help[] =
    "Samples by lines: functions, lines with discriminators and the calls that code\n"
    "was inlined through, against what lines and calls the build has. By probes:\n"
    "checksums of functions, and where these changed calls, against the build's\n"
    "probes.\n\n";

static const char examples[] =
    "  pgokit match app.afdo -b ./app\n"
    "  pgokit match app.afdo -b ./app --min-match 90% --format markdown\n"
    "  pgokit match app.afdo --used records\n";

static const struct option_group groups[] = {
    {&match_profiled_options, 0, 0},
    {&match_option_table, 0, 0},
    CLI_COMMON(struct match_options),
    {0},
};

static int print_used(const struct match_options *m, struct pgk_err *err)
{
    struct pgk_file *file = NULL;
    struct pgk_sample *profile = NULL;
    struct pgk_used *used = NULL;
    int status = cli_open(&file, m->print.title, err);
    status = status ? status : pgk_use_read_sample(&profile, file, err);
    status = status ? status : pgk_used_sample(&used, profile, m->used, err);
    status = status ? status : pgk_used_print(used, &m->print, stdout, err);
    int exit_code = status ? cli_fail(err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE)
        exit_code = match_check_limit(m, pgk_used_percent(used));
    pgk_used_close(&used);
    pgk_sample_close(&profile);
    pgk_file_close(&file);
    return exit_code;
}

static int print_match(const struct match_options *m, struct pgk_err *err)
{
    struct pgk_sample *profile = NULL;
    struct pgk_binaries *binaries = NULL;
    struct pgk_match_opts opts = {.struct_size = sizeof opts};
    struct pgk_function_match *match = NULL;
    match_need_binary(m);
    int status = sample_input_read(&profile, m->print.title, &m->common, NULL, err);
    if (!status)
        status = cli_open_binaries(&m->common, &binaries, err);
    if (!status)
        status = match_open_profiled(m, &opts.profiled, err);
    if (!status)
        status = pgk_match_sample(&match, profile, binaries, &opts, err);
    if (!status)
        status = pgk_function_match_print(match, &m->print, stdout, err);
    int exit_code = status ? cli_fail(err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE)
        exit_code = match_check_limit(m, pgk_function_match_percent(match));
    pgk_function_match_close(&match);
    pgk_binaries_close(&binaries);
    pgk_binaries_close(&opts.profiled);
    pgk_sample_close(&profile);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct match_options m = {0};
    struct pgk_err err = {0};
    match_options_parse(&m, groups, argc, argv);
    int exit_code = m.used ? print_used(&m, &err) : print_match(&m, &err);
    match_options_free(&m);
    return exit_code;
}

const struct cli_action match_sample = {
    PGK_KIND_SAMPLE, help, .run = run, .groups = groups, .examples = examples};
