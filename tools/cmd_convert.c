/* pgokit convert: a profile in another format or version. */
#include "cli.h"

static const char help[] =
    "usage: pgokit convert INPUT [-b BINARY]... --to NAME -o OUTPUT\n\n"
    "Writes a profile in another format or version of its kind, and lists what is\n"
    "lost because the new one cannot hold it.\n\n";

static const struct option_group groups[] = {{.table = &cli_output_option}, {0}};

static const struct cli_action *const actions[] = {
    &convert_gcov,
    &convert_heap,
    &convert_instr,
    &convert_sample,
    NULL,
};

static int run(int argc, char **argv)
{
    return cli_run_action(&cmd_convert, argc, argv);
}

const struct cli_verb cmd_convert = {
    .name = "convert",
    .summary = "writes a profile in another format or version",
    .help = help,
    .exit_help = "0 done, 1 done but the output cannot hold all of the input, 2 failed",
    .run = run,
    .actions = actions,
    .groups = groups,
};
