/* pgokit match for heap profiles. */
#include "heap_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "-b is the build that the profile is to be used for. Raw profiles of another build need that\n"
    "one, too (--profiled-binary). For others it adds names of functions that are gone, and tells\n"
    "more calls apart that have moved.\n\n"
    "      --profiled-binary FILE  the program or a library as it was profiled; may be repeated\n"
    "      --top N          calls that changed, shown (default 10; 0: all)\n"
    "      --json           all of it as JSON (docs/formats/match-json.md)\n"
    "      --format FORMAT  text (default), markdown or json\n"
    "      --min-match N%   exit status 3 if contexts with fewer of the bytes are found\n"
    "\nExamples:\n"
    "  pgokit match app.profdata -b ./app\n"
    "  pgokit match app.profdata -b ./app --min-match 90% --format markdown\n"
    "  pgokit match memprof.profraw.1 --profiled-binary ./app.old -b ./app\n";

enum { OPT_PROFILED = 256, OPT_TOP, OPT_JSON, OPT_FORMAT, OPT_MIN };
enum { EXIT_LIMIT = 3 };

static const struct option options[] = {
    {"profiled-binary", required_argument, NULL, OPT_PROFILED},
    {"top", required_argument, NULL, OPT_TOP},
    {"json", no_argument, NULL, OPT_JSON},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"min-match", required_argument, NULL, OPT_MIN},
    CLI_COMMON_LONG,
    {0},
};

struct match {
    struct cli_common common;
    struct cli_list profiled;
    struct pgk_match_print_opts opts;
    double min_percent; /* negative: not given */
};

static void take_format(struct match *m, const char *text)
{
    m->opts.json = !strcmp(text, "json");
    m->opts.markdown = !strcmp(text, "markdown");
    if (!m->opts.json && !m->opts.markdown && strcmp(text, "text") != 0)
        cli_usage(&cmd_match, "--format takes text, markdown or json, not '%s'", text);
}

static double percent(const char *text)
{
    char *end;
    double n = strtod(text, &end);
    if (end == text || strcmp(end, "%") != 0 || !(n >= 0 && n <= 100))
        cli_usage(&cmd_match, "--min-match takes a percentage, as 90%%, not '%s'", text);
    return n;
}

static void parse(struct match *m, int argc, char **argv)
{
    long top = -1;
    m->opts.struct_size = sizeof m->opts;
    m->min_percent = -1;
    for (int c; (c = cli_next_option(&cmd_match, argc, argv, "", options, &m->common)) != -1;) {
        switch (c) {
        case OPT_PROFILED:
            cli_list_add(&m->profiled, optarg);
            break;
        case OPT_TOP:
            top = (long)cli_number("--top", optarg, 0, 1000000000);
            break;
        case OPT_JSON:
            take_format(m, "json");
            break;
        case OPT_FORMAT:
            take_format(m, optarg);
            break;
        case OPT_MIN:
            m->min_percent = percent(optarg);
            break;
        }
    }
    if (optind + 1 != argc)
        cli_usage(&cmd_match, "match takes one profile; pgokit merge adds up several");
    if (!m->common.binaries.n)
        cli_usage(&cmd_match, "match needs the build that the profile is to fit (-b BINARY)");
    m->opts.title = argv[optind];
    m->opts.against = m->common.binaries.v[0];
    m->opts.top = top >= 0 ? (size_t)top : m->opts.json ? 0 : 10;
    m->opts.colour = cli_colour();
}

/* Addresses and names are those of the profiled build; without it, of the same one. */
static int read_profile(const struct match *m, struct heap_input *in, struct pgk_err *err)
{
    struct cli_common profiled = m->common;
    profiled.binaries = m->profiled;
    int status = heap_input_read(in, m->opts.title, &(struct cli_common){0}, err);
    if (status || (!m->profiled.n && !pgk_heap_needs_binaries(in->heap)))
        return status;
    status = heap_input_read(in, m->opts.title, m->profiled.n ? &profiled : &m->common, err);
    if (status == PGK_E_MISMATCH && !m->profiled.n)
        snprintf(err->hint, sizeof err->hint,
                 "give the program that was profiled (--profiled-binary)");
    return status;
}

static int open_profiled(const struct match *m, struct pgk_binaries **set, struct pgk_err *err)
{
    struct cli_common profiled = m->common;
    profiled.binaries = m->profiled;
    return m->profiled.n ? cli_open_binaries(&profiled, set, err) : 0;
}

/* Rounded down, so that nobody reads 90.0 % of what is too little. */
static int check_limit(const struct match *m, const struct pgk_match *match)
{
    double found = pgk_match_percent(match);
    if (m->min_percent < 0 || found >= m->min_percent)
        return EXIT_DONE;
    fprintf(stderr, "pgokit: limit reached: %.1f %% of the profile are found, and --min-match %g%% "
            "was given\n", floor(found * 10) / 10, m->min_percent);
    return EXIT_LIMIT;
}

static int run(int argc, char **argv)
{
    struct match m = {0};
    struct heap_input in = {0};
    struct pgk_binaries *binaries = NULL;
    struct pgk_match_opts opts = {.struct_size = sizeof opts};
    struct pgk_match *match = NULL;
    struct pgk_err err = {0};
    parse(&m, argc, argv);
    int status = read_profile(&m, &in, &err);
    if (!status)
        status = cli_open_binaries(&m.common, &binaries, &err);
    if (!status)
        status = open_profiled(&m, &opts.profiled, &err);
    if (!status)
        status = pgk_match_heap(&match, in.heap, binaries, &opts, &err);
    if (!status)
        status = pgk_match_print(match, &m.opts, stdout, &err);
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE)
        exit_code = check_limit(&m, match);
    pgk_match_close(&match);
    pgk_binaries_close(&binaries);
    pgk_binaries_close(&opts.profiled);
    pgk_heap_close(&in.heap);
    cli_list_free(&m.profiled);
    cli_common_free(&m.common);
    return exit_code;
}

const struct cli_action match_heap = {PGK_KIND_HEAP, help, "", options, run};
