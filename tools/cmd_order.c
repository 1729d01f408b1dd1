/* pgokit order: an order of functions for the linker. */
#include "cli.h"

static const char help[] =
    "usage: pgokit order FILE [-o OUTPUT] [OPTION]...\n\n"
    "Prints functions, one a line, in an order in which the program's start touches\n"
    "few pages of code, for ld.lld --symbol-ordering-file=OUTPUT. Build the program\n"
    "with -ffunction-sections.\n";

static const struct cli_action *const actions[] = {&order_instr, NULL};

static int run(int argc, char **argv)
{
    return cli_run_action(&cmd_order, argc, argv);
}

const struct cli_verb cmd_order = {
    .name = "order",
    .summary = "orders functions for a faster start of the program",
    .help = help,
    .exit_help = "0 done, 1 done but the names of some functions are not known, 2 failed",
    .run = run,
    .actions = actions,
};
