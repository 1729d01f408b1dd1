/* pgokit convert --rebase-to. */
#ifndef REBASE_H
#define REBASE_H

#include "cli.h"

enum { OPT_REBASE_TO = 1280, OPT_EXPLAIN };

#define REBASE_LONG                                          \
    {"rebase-to", required_argument, NULL, OPT_REBASE_TO},   \
    {"explain", no_argument, NULL, OPT_EXPLAIN}
#define REBASE_HELP                                                                             \
    "      --rebase-to FILE     the profile in terms of this build: lines where its source has\n" \
    "                           them now; -b, the build that was profiled, makes it surer; may\n" \
    "                           be repeated\n"                                                   \
    "      --explain            every decision of --rebase-to on standard output\n"

struct rebase_options {
    struct cli_list builds;
    bool explain;
};

/* True if the option is one of these. */
bool rebase_option(struct rebase_options *r, int option, const char *value);
/* Exits on options that do not go together; `output` as of -o. */
void rebase_check_options(const struct rebase_options *r, const char *output);
/* Replaces the profile, which need not be finished, by the rebased one. Says what is lost: the exit
 * status, EXIT_FAILED if it failed. */
int rebase_sample(const struct rebase_options *r, struct pgk_sample **profile, const char *input,
                  const char *output, const struct cli_common *common);
/* The same of a heap profile whose frames are places in functions. */
int rebase_heap(const struct rebase_options *r, struct pgk_heap **heap, const char *input,
                const char *output, const struct cli_common *common);

#endif
