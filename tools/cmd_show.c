/* pgokit show: what a file says. */
#include "cli.h"

static const char help[] =
    "usage: pgokit show [FILE] [-b BINARY]...\n\n"
    "Shows what a file says, for people or as JSON. Without FILE, the newest\n"
    "recording in the current folder.\n";

static const struct cli_action *const actions[] = {
    &show_heap,
    &show_instr,
    &show_gcov,
    &show_sample,
    &show_binary,
    NULL,
};

const struct cli_verb cmd_show = {
    .name = "show",
    .exit_help = "0 done, 1 done but some pseudo probes belong to code that is not in the program, "
                 "2 failed",
    .summary = "prints what a profile contains",
    .help = help,
    .actions = actions,
    .takes_newest = true,
};
