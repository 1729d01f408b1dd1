/* pgokit diff: how two profiles of one kind differ. */
#include "cli.h"

static const char help[] = "usage: pgokit diff BEFORE AFTER\n\n"
                           "Tells how far two profiles of one kind agree, and what changed.\n";

static const struct cli_action *const actions[] = {&diff_instr, NULL};

const struct cli_verb cmd_diff = {
    .name = "diff",
    .summary = "tells how two profiles differ",
    .help = help,
    .actions = actions,
};
