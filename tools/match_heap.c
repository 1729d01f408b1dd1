/* pgokit match for heap profiles. */
#include "heap_input.h"
#include "match_options.h"

#include <stdio.h>

static const char help[] =
    "-b names the build that you want to use the profile for; a raw profile without\n"
    "it is matched with the profiled build. A raw profile of a different build also\n"
    "needs the profiled binary: it is found by its build id, or named by\n"
    "--profiled-binary. With other profiles, the profiled binary adds the names of\n"
    "removed functions and distinguishes more moved calls.\n\n";

static const char examples[] =
    "  pgokit match app.profdata -b ./app\n"
    "  pgokit match app.profdata -b ./app --min-match 90% --format markdown\n"
    "  pgokit match memprof.profraw.1 --profiled-binary ./app.old -b ./app\n"
    "  pgokit match app.memprofdata --used records -b ./app\n";

static const struct option_group groups[] = {
    {&match_profiled_options, 0, 0},
    {&match_option_table, 0, 0},
    CLI_COMMON(struct match_options),
    {0},
};

/* If -b is another build, and there is only one -b, the profiled program is searched. */
static int find_profiled(struct match_options *m, struct pgk_err *err)
{
    struct heap_input in = {0};
    int status = heap_input_read_addresses(&in, m->print.title, err);
    if (!status && m->common.binaries.n == 1 && pgk_heap_needs_binaries(in.heap))
        status = cli_find_program(&m->common, in.heap, &m->found, err);
    if (!status && m->found)
        cli_list_add(&m->profiled, m->found);
    pgk_heap_close(&in.heap);
    return status;
}

/* Addresses are those of the profiled build: given, or the same as that of -b, or found. */
static int read_profile(struct match_options *m, struct heap_input *in, struct pgk_err *err)
{
    struct pgk_err why = {0};
    int status = heap_input_read_addresses(in, m->print.title, err);
    if (status || (!m->profiled.n && !pgk_heap_needs_binaries(in->heap)))
        return status;
    if (!m->profiled.n)
        status = heap_input_read(in, m->print.title, &m->common, err);
    if (status == PGK_E_MISMATCH) {
        snprintf(err->hint, sizeof err->hint,
                 "give the program that was profiled (--profiled-binary)");
        if (!find_profiled(m, &why) && m->profiled.n)
            status = 0;
    }
    if (status || !m->profiled.n)
        return status;
    struct cli_common profiled = m->common;
    profiled.binaries = m->profiled;
    return heap_input_read(in, m->print.title, &profiled, err);
}

/* The build that -b gives, or else the one that was profiled. */
static int open_build(struct match_options *m, struct pgk_binaries **binaries, struct pgk_err *err)
{
    struct heap_input in = {0};
    if (m->common.binaries.n)
        return cli_open_binaries(&m->common, binaries, err);
    int status = heap_input_read_addresses(&in, m->print.title, err);
    if (!status && !pgk_heap_needs_binaries(in.heap))
        match_need_binary(m);
    status = status ? status : cli_find_binaries(&m->common, in.heap, binaries, err);
    if (!status && !*binaries)
        cli_not_found(&cmd_match, in.heap, "match needs the build that the profile is to fit");
    if (!status)
        m->print.against = pgk_binaries_path(*binaries, 0);
    pgk_heap_close(&in.heap);
    return status;
}

/* Compilers read profiles whose frames are places: what -b says of them is their names. */
static int print_used(const struct match_options *m, struct pgk_err *err)
{
    struct heap_input in = {0};
    struct pgk_used *used = NULL;
    int status = heap_input_read(&in, m->print.title, &m->common, err);
    status = status ? status : pgk_used_heap(&used, in.heap, m->used, err);
    status = status ? status : pgk_used_print(used, &m->print, stdout, err);
    int exit_code = status ? cli_fail(err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE)
        exit_code = match_check_limit(m, pgk_used_percent(used));
    pgk_used_close(&used);
    pgk_heap_close(&in.heap);
    return exit_code;
}

static int print_match(struct match_options *m, struct pgk_err *err)
{
    struct heap_input in = {0};
    struct pgk_binaries *binaries = NULL;
    struct pgk_match_opts opts = {.struct_size = sizeof opts};
    struct pgk_match *match = NULL;
    int status = open_build(m, &binaries, err);
    if (!status)
        status = read_profile(m, &in, err);
    if (!status)
        status = match_open_profiled(m, &opts.profiled, err);
    if (!status)
        status = pgk_match_heap(&match, in.heap, binaries, &opts, err);
    if (!status)
        status = pgk_match_print(match, &m->print, stdout, err);
    int exit_code = status ? cli_fail(err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE)
        exit_code = match_check_limit(m, pgk_match_percent(match));
    pgk_match_close(&match);
    pgk_binaries_close(&binaries);
    pgk_binaries_close(&opts.profiled);
    pgk_heap_close(&in.heap);
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

const struct cli_action match_heap = {
    PGK_KIND_HEAP, help, .run = run, .groups = groups, .examples = examples};
