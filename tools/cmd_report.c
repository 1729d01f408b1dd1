/* pgokit report: a profile as a page to look at, or for other viewers. */
#include "cli.h"

static const char help[] =
    "usage: pgokit report PROFILE [-b BINARY]... [-o OUTPUT]\n\n"
    "Writes a profile as one HTML page that needs no network, or in the format of another "
    "viewer.\n\n"
    "  -o, --output FILE    where to write (default: report.html, or - for other formats);\n"
    "                       - for standard output\n";

static const struct cli_action *const actions[] = {&report_heap, NULL};

const struct cli_verb cmd_report = {
    .name = "report",
    .summary = "writes a page to look at, or files for other viewers",
    .help = help,
    .actions = actions,
};
