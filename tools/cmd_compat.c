/* pgokit compat: command lines of other tools. */
#include "compat.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: pgokit compat [--print] NAME [ARGUMENT]...\n"
    "       pgokit compat [--markdown]\n\n"
    "Does what the tool of that name does with these arguments, which may have a release behind\n"
    "it, as in llvm-profdata-19. A link of that name to pgokit does the same. Without a name,\n"
    "lists the names; NAME --help lists options. docs/compat.md has all of them.\n\n"
    "      --print      print the command line of pgokit instead of running it\n"
    "      --markdown   all names and options as Markdown\n"
    "\nFor which compiler files are written, whatever the command line says:\n"
    "  PGOKIT_TO_LLVM   llvm14 to llvm23, or any; default: the release in the name, or that\n"
    "                   which wrote the inputs if it is before 19, or any\n"
    "  PGOKIT_TO_GCC    gcc11 to gcc16; default: what -gcov_version means\n"
    "\nExamples:\n"
    "  pgokit compat llvm-profdata merge -sparse -o app.profdata default_1.profraw\n"
    "  pgokit compat --print create_gcov -binary app -gcov app.afdo -gcov_version 3\n";

enum { OPT_PRINT = 256, OPT_MARKDOWN };

static const struct option options[] = {
    {"print", no_argument, NULL, OPT_PRINT},
    {"markdown", no_argument, NULL, OPT_MARKDOWN},
    CLI_COMMON_LONG,
    {0},
};

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    int view = 0;
    for (int c; (c = cli_next_option(&cmd_compat, argc, argv, "+", options, &common)) != -1;)
        view = c;
    cli_common_free(&common);
    if (optind < argc)
        return compat_run(argv[optind], argv + optind, view == OPT_PRINT);
    if (view == OPT_MARKDOWN)
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
    .options = options,
};
