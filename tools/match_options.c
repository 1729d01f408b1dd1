/* Options of pgokit match for every kind of profile. */
#include "match_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum form { TEXT, MARKDOWN, JSON };
static const struct option_choice forms[] = {
    {"text", TEXT}, {"markdown", MARKDOWN}, {"json", JSON}, {0}};

static void set_form(struct match_options *m, enum form form)
{
    m->print.json = form == JSON;
    m->print.markdown = form == MARKDOWN;
}

static void take_format(const struct option_given *given)
{
    set_form(given->into, (enum form)option_choice(given));
}

static void take_json(const struct option_given *given)
{
    set_form(given->into, JSON);
}

static const struct option_row profiled_rows[] = {
    {"profiled-binary", 0, "FILE",
     "the program or a library as it was profiled; leaves fewer moved calls ambiguous; may be "
     "repeated", OPTION_LIST(struct match_options, profiled),
     .page = "raw profiles of another build need it. It names functions that are gone, and all of "
             "its calls are compared, not only those of the profile"},
    {"used", 0, "DIR",
     "instead of a build: what its compiles used of the profile, by their records (pgokit config "
     "use --report DIR); for heap profiles, -b adds names",
     OPTION_TEXT(struct match_options, used)},
    {0},
};
const struct option_table match_profiled_options = {"match profiled", NULL, profiled_rows};

static const struct option_row rows[] = {
    {"top", 0, "N", "what changed or is not used, shown (default 10; 0: all)",
     OPTION_NUMBER(struct match_options, print.top, 0, 1000000000),
     OPTION_GIVEN(struct match_options, top_given),
     .page = "these are functions, calls or contexts; `--json` has all by default"},
    {"json", 0, NULL, "all of it as JSON", OPTION_CALL(take_json),
     .page = "see [match-json](../formats/match-json.md); with `--used` "
             "[used-json](../formats/used-json.md)"},
    {"format", 0, "FORMAT", "text (default), markdown or json", OPTION_CALL(take_format),
     .choices = forms,
     .page = "Markdown is for a comment on a change"},
    {"min-match", 0, "N%", "exit status 3 if less of the profile is found",
     OPTION_PERCENT(struct match_options, min_percent, 0, 100),
     .page = "what counts are bytes, samples or counters; with `--used`, those that are used"},
    {0},
};
const struct option_table match_option_table = {"match", NULL, rows};

void match_options_parse(struct match_options *m, const struct option_group *groups, int argc,
                         char **argv)
{
    m->print.struct_size = sizeof m->print;
    m->min_percent = -1;
    option_parse(&cmd_match, groups, argc, argv, m);
    if (optind + 1 != argc)
        cli_usage(&cmd_match, "match takes one profile; pgokit merge adds up several");
    if (m->used && m->profiled.n)
        cli_usage(&cmd_match, "--used takes names from -b, and no --profiled-binary");
    m->print.title = argv[optind];
    m->print.against = m->used                ? m->used
                       : m->common.binaries.n ? m->common.binaries.v[0]
                                              : NULL; /* that is found */
    if (!m->top_given)
        m->print.top = m->print.json ? 0 : 10;
    m->print.colour = cli_colour();
    m->print.width = cli_width(STDOUT_FILENO);
    cli_for_people(m->print.json || m->print.markdown ? CLI_EXACT : CLI_PEOPLE);
}

void match_options_free(struct match_options *m)
{
    free(m->found);
    cli_list_free(&m->profiled);
    cli_common_free(&m->common);
}

void match_need_binary(const struct match_options *m)
{
    if (!m->common.binaries.n)
        cli_usage(&cmd_match, "match needs the build that the profile is to fit (-b BINARY), or "
                              "the folder with what its compiles used (--used DIR)");
}

int match_open_profiled(const struct match_options *m, struct pgk_binaries **set,
                        struct pgk_err *err)
{
    struct cli_common profiled = m->common;
    profiled.binaries = m->profiled;
    return m->profiled.n ? cli_open_binaries(&profiled, set, err) : 0;
}

/* Rounded down, so that a share just below a limit of 90 % is not printed as 90.0 %. */
int match_check_limit(const struct match_options *m, double found_percent)
{
    if (m->min_percent < 0 || found_percent >= m->min_percent)
        return EXIT_DONE;
    fprintf(stderr, "pgokit: limit reached: %.1f %% of the profile are %s, and --min-match %g%% "
            "was given\n", floor(found_percent * 10) / 10, m->used ? "used" : "found",
            m->min_percent);
    return EXIT_LIMIT;
}
