/* pgokit diff: what two profiles have in common, and what differs. */
#include "cli.h"

static const char help[] =
    "usage: pgokit diff BASE TEST\n\n"
    "Says how much two profiles of one kind have in common, and lists what differs most.\n";

static const struct cli_action *const actions[] = {&diff_sample, NULL};

static int run(int argc, char **argv)
{
    return cli_run_action(&cmd_diff, argc, argv);
}

const struct cli_verb cmd_diff = {
    .name = "diff",
    .summary = "compares two profiles",
    .help = help,
    .run = run,
    .actions = actions,
};
