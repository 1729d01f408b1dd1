/* pgokit match: how much of a profile fits a build. */
#include "cli.h"

static const char help[] = "usage: pgokit match PROFILE [-b BINARY]...\n\n"
                           "Says how much of a profile fits another build than the one that was\n"
                           "profiled, what does not, and why: code that was changed, moved or\n"
                           "compiled otherwise. Needs debug information (-g), no LLVM.\n";

static const struct cli_action *const actions[] = {
    &match_heap,
    &match_sample,
    &match_instr,
    NULL,
};

const struct cli_verb cmd_match = {
    .name = "match",
    .summary = "reports how much of a profile applies to another build",
    .help = help,
    .exit_help = "0 done, 2 failed, 3 done and less is found than --min-match wants",
    .actions = actions,
};
