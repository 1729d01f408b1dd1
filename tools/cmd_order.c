/* pgokit order: an order of functions for the linker. */
#include "cli.h"

static const char help[] =
    "usage: pgokit order FILE [-o OUTPUT] [OPTION]...\n\n"
    "Prints functions, one a line, in an order for ld.lld --symbol-ordering-file:\n"
    "from temporal traces one in which the program's start touches few pages of code,\n"
    "from a sample profile one that places callers near what they call. Build the\n"
    "program with -ffunction-sections.\n";

static const struct cli_action *const actions[] = {&order_instr, &order_sample, NULL};

static int run(int argc, char **argv)
{
    return cli_run_action(&cmd_order, argc, argv);
}

const struct cli_verb cmd_order = {
    .name = "order",
    .summary = "orders functions for a faster program or start of it",
    .help = help,
    .exit_help = "0 done, 1 done but the names of some functions are not known, 2 failed",
    .run = run,
    .actions = actions,
};
