/* pgokit convert --rebase-to for sample profiles. */
#include "rebase.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {
    {"rebase-to", 0, "FILE",
     "the profile in terms of this build: lines where its source has them now, counters of an "
     "instrumented build; -b, the build that was profiled, makes it surer; may be repeated",
     OPTION_LIST(struct rebase_options, builds),
     .page = "see [Profiles of an older source](pgokit-convert.md#profiles-of-an-older-source)"},
    {"explain", 0, NULL, "every decision of --rebase-to on standard output",
     OPTION_FLAG(struct rebase_options, explain),
     .page = "[pgokit match](pgokit-match.md) prints the same"},
    {0},
};
const struct option_table rebase_option_table = {"rebase", NULL, rows};

void rebase_check_options(const struct rebase_options *r, const char *output)
{
    if (r->explain && !r->builds.n)
        cli_usage(&cmd_convert, "--explain is about --rebase-to");
    if (r->explain && !strcmp(output, "-"))
        cli_usage(&cmd_convert, "--explain prints to standard output: name a file with -o");
}

struct pgk_function_totals rebase_totals(const struct pgk_function_match *m,
                                         enum pgk_match_level level)
{
    struct pgk_function_totals t = {.struct_size = sizeof t};
    pgk_function_totals(m, level, &t);
    return t;
}

/* Samples that fit several lines go to the likeliest one; worse ones are lost. */
static int report(const struct pgk_function_match *m, const char *output,
                  const struct cli_common *common)
{
    char safe[256];
    uint64_t all = rebase_totals(m, PGK_MATCH_LEVELS).samples, lost = 0,
             likely = rebase_totals(m, PGK_MATCH_AMBIGUOUS).samples;
    for (enum pgk_match_level l = PGK_MATCH_AMBIGUOUS + 1; l < PGK_MATCH_LEVELS; l++)
        lost += rebase_totals(m, l).samples;
    double whole = all ? (double)all / 100 : 1;
    pgk_human_text(safe, sizeof safe, output);
    if (!common->quiet)
        fprintf(stderr, "pgokit: note: %.1f %% of the samples have a place in the build, and "
                "%.1f %% one of several, of which they are at the likeliest\n",
                pgk_function_match_percent(m), (double)likely / whole);
    if (!lost)
        return EXIT_DONE;
    fprintf(stderr, "pgokit: warning: %s: lost: %" PRIu64 " samples (%.1f %%) of code that the "
            "build does not have; --explain lists it\n", safe, lost, (double)lost / whole);
    return EXIT_INCOMPLETE;
}

int rebase_explain(const struct rebase_options *r, const struct pgk_function_match *match,
                   const char *input, struct pgk_err *err)
{
    struct pgk_match_print_opts opts = {.struct_size = sizeof opts, .title = input,
                                        .against = r->builds.v[0], .colour = cli_colour(),
                                        .width = cli_width(STDOUT_FILENO)};
    return r->explain ? pgk_function_match_print(match, &opts, stdout, err) : 0;
}

int rebase_sample(const struct rebase_options *r, struct pgk_sample **profile, const char *input,
                  const char *output, const struct cli_common *common)
{
    struct pgk_sample *rebased = NULL;
    struct rebase_builds builds = {0};
    struct pgk_function_match *match = NULL;
    struct pgk_match_opts opts = {.struct_size = sizeof opts};
    struct pgk_err err = {0};
    int status = pgk_sample_finish(*profile, &err);
    if (!status)
        status = rebase_open(&builds, &r->builds, common, &err);
    opts.profiled = builds.profiled;
    if (!status)
        status = pgk_sample_rebase(&rebased, &match, *profile, builds.now, &opts, &err);
    if (!status)
        status = rebase_explain(r, match, input, &err);
    int exit_code = status ? cli_fail(&err) : report(match, output, common);
    if (!status) {
        pgk_sample_close(profile);
        *profile = rebased;
    }
    pgk_function_match_close(&match);
    rebase_close(&builds);
    return exit_code;
}
