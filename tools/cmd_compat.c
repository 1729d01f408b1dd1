/* pgokit compat: command lines of other tools. */
#include "compat.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: pgokit compat [--print] NAME [ARGUMENT]...\n"
    "       pgokit compat [--markdown]\n\n"
    "Does what the tool of that name does with these arguments, which may have a\n"
    "release behind it, as in llvm-profdata-19. A link of that name to pgokit does\n"
    "the same. Without a name, lists the names; NAME --help lists options.\n"
    "docs/compat.md has all of them.\n\n"
    "For which compiler files are written, whatever the command line says:\n"
    "  PGOKIT_TO_LLVM   llvm14 to llvm" CLI_LLVM_NEWEST
    ", or any; default: the release in the name,\n"
    "                   or that which wrote the inputs if it is before 19, or any\n"
    "  PGOKIT_TO_GCC    gcc11 to gcc16; default: what -gcov_version means\n\n";

static const char examples[] =
    "  pgokit compat llvm-profdata merge -sparse -o app.profdata default_1.profraw\n"
    "  pgokit compat --print create_gcov -binary app -gcov app.afdo -gcov_version 3\n";

struct compat {
    struct cli_common common;
    bool print, markdown;
};

static const struct option_row rows[] = {
    {"print", 0, NULL, "print the command line of pgokit instead of running it",
     OPTION_FLAG(struct compat, print)},
    {"markdown", 0, NULL, "all names and options as Markdown",
     OPTION_FLAG(struct compat, markdown)},
    {0},
};
static const struct option_table table = {"compat", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct compat), {0}};

static int run(int argc, char **argv)
{
    struct compat o = {0};
    option_parse(&cmd_compat, groups, argc, argv, &o);
    cli_common_free(&o.common);
    if (optind < argc)
        return compat_run(argv[optind], argv + optind, o.print);
    if (o.markdown)
        compat_print_markdown();
    else
        compat_print_names();
    return cli_finish_output(EXIT_DONE);
}

const struct cli_verb cmd_compat = {
    .name = "compat",
    .summary = "runs the command lines of llvm-profdata and other tools",
    .help = help,
    .run = run,
    .groups = groups,
    .examples = examples,
    .stops_at_operand = true,
};
