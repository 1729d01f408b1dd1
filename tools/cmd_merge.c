/* pgokit merge: any number of profiles of one kind into one. */
#include "cli.h"

static const char help[] =
    "usage: pgokit merge INPUT... [-b BINARY]... -o OUTPUT\n\n"
    "Adds up profiles of one kind, of any formats and versions, into one for the compiler.\n\n"
    "  -o, --output FILE        the profile to write; - for standard output\n"
    "      --files-from FILE    names of further inputs, one per line; - for standard input\n";

static const struct cli_action *const actions[] = {&merge_heap, &merge_sample, NULL};

static int run(int argc, char **argv)
{
    cli_expand_files_from(&cmd_merge, &argc, &argv);
    return cli_run_action(&cmd_merge, argc, argv);
}

const struct cli_verb cmd_merge = {
    .name = "merge",
    .summary = "adds up profiles into one for the compiler",
    .help = help,
    .exit_help = "0 done, 1 done but some input data are not in the output, 2 could not",
    .run = run,
    .actions = actions,
};
