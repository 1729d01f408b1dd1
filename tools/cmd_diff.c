/* pgokit diff: what changed between two profiles of one kind. */
#include "cli.h"

static const char help[] = "usage: pgokit diff BEFORE NOW [-b BINARY]...\n\n"
                           "Says what changed between two profiles of one kind, for people, for\n"
                           "programs, and for continuous integration.\n";

static const struct cli_action *const actions[] = {
    &diff_heap,
    &diff_instr,
    &diff_sample,
    NULL,
};

const struct cli_verb cmd_diff = {
    .name = "diff",
    .summary = "says what changed between two profiles",
    .help = help,
    .exit_help = "0 done, 2 failed, 3 done and a limit of --fail-on is reached",
    .actions = actions,
};
