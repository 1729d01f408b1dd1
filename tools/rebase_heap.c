/* pgokit convert --rebase-to for heap profiles. */
#include "rebase.h"

#include <stdio.h>
#include <unistd.h>

static int explain(const struct pgk_match *m, const char *title, const char *against,
                   struct pgk_err *err)
{
    struct pgk_match_print_opts opts = {.struct_size = sizeof opts, .title = title,
                                        .against = against, .colour = cli_colour(),
                                        .width = cli_width(STDOUT_FILENO)};
    return pgk_match_print(m, &opts, stdout, err);
}

static int report(const struct pgk_match *m, const char *output, const struct cli_common *common)
{
    char safe[256], bytes[PGK_HUMAN_SIZE], of_inner[160] = "", of_likeliest[160] = "";
    struct pgk_match_totals t = {.struct_size = sizeof t}, shortened = t, likeliest = t, lost = {0};
    for (enum pgk_match_level l = PGK_MATCH_FOUND + 1; l < PGK_MATCH_LEVELS; l++) {
        pgk_match_totals(m, l, &t);
        lost.contexts += t.contexts;
        lost.bytes += t.bytes;
    }
    pgk_match_totals(m, PGK_MATCH_LEVELS, &t);
    pgk_match_shortened(m, &shortened);
    pgk_match_likeliest(m, &likeliest);
    lost.contexts -= shortened.contexts;
    lost.bytes -= shortened.bytes;
    pgk_human_text(safe, sizeof safe, output);
    if (shortened.contexts)
        snprintf(of_inner, sizeof of_inner, ", and %zu more (%s) their inner calls, which is what "
                 "stays of them", shortened.contexts,
                 pgk_human_bytes(bytes, (double)shortened.bytes));
    if (likeliest.contexts)
        snprintf(of_likeliest, sizeof of_likeliest, "; %zu of these (%s) have a call for which "
                 "several places fit, and are kept at the likeliest",
                 likeliest.contexts, pgk_human_bytes(bytes, (double)likeliest.bytes));
    if (!common->quiet)
        fprintf(stderr, "pgokit: note: %zu of %zu contexts have a place in the build%s%s\n",
                t.contexts - lost.contexts - shortened.contexts, t.contexts, of_inner,
                of_likeliest);
    if (!lost.contexts)
        return EXIT_DONE;
    fprintf(stderr, "pgokit: warning: %s: lost: %zu contexts (%s) that the build does not have; "
            "--explain lists why\n", safe, lost.contexts,
            pgk_human_bytes(bytes, (double)lost.bytes));
    return EXIT_INCOMPLETE;
}

int rebase_heap(const struct rebase_options *r, struct pgk_heap **heap, const char *input,
                const char *output, const struct cli_common *common)
{
    struct pgk_heap *rebased = NULL;
    struct rebase_builds builds = {0};
    struct pgk_match *match = NULL;
    struct pgk_match_opts opts = {.struct_size = sizeof opts};
    struct pgk_err err = {0};
    int status = rebase_open(&builds, &r->builds, common, &err);
    opts.profiled = builds.profiled;
    if (!status)
        status = pgk_match_heap(&match, *heap, builds.now, &opts, &err);
    if (!status)
        status = pgk_match_rebase(&rebased, match, PGK_LOST_SHORTEN, &err);
    if (!status && r->explain)
        status = explain(match, input, r->builds.v[0], &err);
    int exit_code = status ? cli_fail(&err) : report(match, output, common);
    pgk_match_close(&match);
    if (!status) {
        pgk_heap_close(heap);
        *heap = rebased;
    }
    rebase_close(&builds);
    return exit_code;
}
