/* Profiles in terms of another build: pgokit convert --rebase-to, and --on of diff and report. */
#ifndef REBASE_H
#define REBASE_H

#include "cli.h"

struct rebase_options {
    struct cli_list builds;
    bool explain;
};

extern const struct option_table rebase_option_table;
/* Exits on options that do not go together; `output` as of -o. */
void rebase_check_options(const struct rebase_options *r, const char *output);
/* Replaces the profile, which need not be finished, by the rebased one. Says what is lost: the exit
 * status, EXIT_FAILED if it failed. */
int rebase_sample(const struct rebase_options *r, struct pgk_sample **profile, const char *input,
                  const char *output, const struct cli_common *common);
/* The same of counters, with an instrumented build. */
int rebase_instr(const struct rebase_options *r, struct pgk_instr **profile, const char *input,
                 const char *output, const struct cli_common *common);
/* The same of a heap profile whose frames are places in functions. */
int rebase_heap(const struct rebase_options *r, struct pgk_heap **heap, const char *input,
                const char *output, const struct cli_common *common);

/* The part of the profile at one level, or at all of them (PGK_MATCH_LEVELS). */
struct pgk_function_totals rebase_totals(const struct pgk_function_match *m,
                                         enum pgk_match_level level);
/* Prints the decisions about functions on standard output. */
int rebase_explain(const struct rebase_options *r, const struct pgk_function_match *match,
                   const char *input, struct pgk_err *err);

/* The builds between which a profile moves. */
struct rebase_builds {
    struct pgk_binaries *now, *profiled; /* the latter is NULL if it was not given */
};

/* Opens the binaries of the new build, and those of -b as the profiled one. Close in any case. */
int rebase_open(struct rebase_builds *b, const struct cli_list *now,
                const struct cli_common *common, struct pgk_err *err);
void rebase_close(struct rebase_builds *b);
/* The options with all files of both builds for names, so that each profile finds its own. The
 * caller frees the list of binaries. */
struct cli_common rebase_all_binaries(const struct cli_common *common, const struct cli_list *now);

/* Says how much of the profile has a place in the build. */
void rebase_note(const char *profile, double percent, const char *of, const char *build);

/* For people: a profile in terms of the new build, with names, and how much of it was found. The
 * caller closes it. `lost` as of pgk_match_rebase. */
int rebase_heap_on(struct pgk_heap **rebased, const struct pgk_heap *heap,
                   const struct rebase_builds *b, enum pgk_match_lost lost,
                   double *percent, struct pgk_err *err);
int rebase_sample_on(struct pgk_sample **rebased, const struct pgk_sample *profile,
                     const struct rebase_builds *b, double *percent, struct pgk_err *err);

#endif
