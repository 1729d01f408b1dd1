/* pgokit convert --rebase-to for counters. */
#include "rebase.h"

#include <inttypes.h>
#include <stdio.h>

static int report(const struct pgk_function_match *m, const char *output,
                  const struct cli_common *common)
{
    char safe[256];
    struct pgk_function_totals all = rebase_totals(m, PGK_MATCH_LEVELS);
    size_t lost = all.functions - rebase_totals(m, PGK_MATCH_EXACT).functions -
                  rebase_totals(m, PGK_MATCH_REROUTED).functions;
    if (!common->quiet)
        fprintf(stderr, "pgokit: note: %zu of %zu functions are in the build with their hashes, "
                "%zu of them by other names\n", all.functions - lost, all.functions,
                rebase_totals(m, PGK_MATCH_REROUTED).functions);
    if (!lost)
        return EXIT_DONE;
    fprintf(stderr, "pgokit: warning: %s: lost: %zu functions (%.1f %% of the counts) that changed "
            "or are gone; --explain lists them\n", pgk_human_text(safe, sizeof safe, output), lost,
            100 - pgk_function_match_percent(m));
    return EXIT_INCOMPLETE;
}

int rebase_instr(const struct rebase_options *r, struct pgk_instr **profile, const char *input,
                 const char *output, const struct cli_common *common)
{
    struct pgk_instr *rebased = NULL;
    struct rebase_builds builds = {0};
    struct pgk_function_match *match = NULL;
    struct pgk_err err = {0};
    struct cli_common of_now = *common;
    of_now.binaries = (struct cli_list){0};
    int status = rebase_open(&builds, &r->builds, &of_now, &err);
    if (!status)
        status = pgk_instr_rebase(&rebased, &match, *profile, builds.now, &err);
    if (!status)
        status = rebase_explain(r, match, input, &err);
    int exit_code = status ? cli_fail(&err) : report(match, output, common);
    if (!status) {
        pgk_instr_close(profile);
        *profile = rebased;
    }
    pgk_function_match_close(&match);
    rebase_close(&builds);
    return exit_code;
}
