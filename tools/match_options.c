/* What pgokit match takes for every kind of profile. */
#include "match_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_format(struct match_options *m, const char *text)
{
    m->print.json = !strcmp(text, "json");
    m->print.markdown = !strcmp(text, "markdown");
    if (!m->print.json && !m->print.markdown && strcmp(text, "text") != 0)
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

void match_options_parse(struct match_options *m, const struct option *options, int argc,
                         char **argv)
{
    long top = -1;
    m->print.struct_size = sizeof m->print;
    m->min_percent = -1;
    for (int c; (c = cli_next_option(&cmd_match, argc, argv, "", options, &m->common)) != -1;) {
        switch (c) {
        case MATCH_PROFILED:
            cli_list_add(&m->profiled, optarg);
            break;
        case MATCH_TOP:
            top = (long)cli_number("--top", optarg, 0, 1000000000);
            break;
        case MATCH_JSON:
            take_format(m, "json");
            break;
        case MATCH_FORMAT:
            take_format(m, optarg);
            break;
        case MATCH_MIN:
            m->min_percent = percent(optarg);
            break;
        case MATCH_USED:
            m->used = optarg;
            break;
        }
    }
    if (optind + 1 != argc)
        cli_usage(&cmd_match, "match takes one profile; pgokit merge adds up several");
    if (m->used && m->profiled.n)
        cli_usage(&cmd_match, "--used takes names from -b, and no --profiled-binary");
    m->print.title = argv[optind];
    m->print.against = m->used                ? m->used
                       : m->common.binaries.n ? m->common.binaries.v[0]
                                              : NULL; /* that is found */
    m->print.top = top >= 0 ? (size_t)top : m->print.json ? 0 : 10;
    m->print.colour = cli_colour();
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

/* Rounded down, so that nobody reads 90.0 % of what is too little. */
int match_check_limit(const struct match_options *m, double found_percent)
{
    if (m->min_percent < 0 || found_percent >= m->min_percent)
        return EXIT_DONE;
    fprintf(stderr, "pgokit: limit reached: %.1f %% of the profile are %s, and --min-match %g%% "
            "was given\n", floor(found_percent * 10) / 10, m->used ? "used" : "found",
            m->min_percent);
    return EXIT_LIMIT;
}
