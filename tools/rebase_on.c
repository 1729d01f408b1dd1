/* Profiles in terms of another build. */
#include "rebase.h"

#include <stdio.h>

int rebase_open(struct rebase_builds *b, const struct cli_list *now,
                const struct cli_common *common, struct pgk_err *err)
{
    struct cli_common of_now = *common;
    *b = (struct rebase_builds){0};
    of_now.binaries = *now;
    int status = cli_open_binaries(&of_now, &b->now, err);
    if (!status && common->binaries.n)
        status = cli_open_binaries(common, &b->profiled, err);
    return status;
}

void rebase_close(struct rebase_builds *b)
{
    pgk_binaries_close(&b->now);
    pgk_binaries_close(&b->profiled);
}

struct cli_common rebase_all_binaries(const struct cli_common *common, const struct cli_list *now)
{
    struct cli_common all = *common;
    all.binaries = (struct cli_list){0};
    for (size_t i = 0; i < common->binaries.n; i++)
        cli_list_add(&all.binaries, common->binaries.v[i]);
    for (size_t i = 0; i < now->n; i++)
        cli_list_add(&all.binaries, now->v[i]);
    return all;
}

void rebase_note(const char *profile, double percent, const char *of, const char *build)
{
    char a[256], b[256];
    fprintf(stderr, "pgokit: note: %s: %.1f %% of the %s have a place in %s\n",
            pgk_human_text(a, sizeof a, profile), percent, of, pgk_human_text(b, sizeof b, build));
}

int rebase_heap_on(struct pgk_heap **rebased, const struct pgk_heap *heap,
                   const struct rebase_builds *b, enum pgk_match_lost lost,
                   double *percent, struct pgk_err *err)
{
    struct pgk_match *match = NULL;
    struct pgk_match_opts opts = {.struct_size = sizeof opts, .profiled = b->profiled};
    int status = pgk_match_heap(&match, heap, b->now, &opts, err);
    if (!status)
        status = pgk_match_rebase(rebased, match, lost, err);
    if (!status)
        *percent = pgk_match_percent(match);
    pgk_match_close(&match);
    return status ? status : pgk_heap_name_functions(*rebased, b->now, err);
}

int rebase_sample_on(struct pgk_sample **rebased, const struct pgk_sample *profile,
                     const struct rebase_builds *b, double *percent, struct pgk_err *err)
{
    struct pgk_function_match *match = NULL;
    struct pgk_match_opts opts = {.struct_size = sizeof opts, .profiled = b->profiled};
    int status = pgk_sample_rebase(rebased, &match, profile, b->now, &opts, err);
    if (!status)
        *percent = pgk_function_match_percent(match);
    pgk_function_match_close(&match);
    return status;
}
