/* pgokit report: a profile as a page to look at, or for other viewers. */
#include "export_choice.h"

static const char help[] =
    "usage: pgokit report [PROFILE] [-b BINARY]... [-o OUTPUT]\n\n"
    "Writes a profile as one HTML page that needs no network, or in the format of\n"
    "another viewer. Without PROFILE, of the newest recording in the current folder.\n\n";

static const struct option_group groups[] = {{.table = &report_choice_options}, {0}};

static const struct cli_action *const actions[] = {&report_heap, &report_sample, NULL};

/* Heap data that shares a file with counters makes a page as well. */
static int decide(int n_operands, char *const *operands, const struct pgk_format **format,
                  struct pgk_err *err)
{
    struct pgk_file *file;
    (void)n_operands;
    int status = cli_open(&file, operands[0], err);
    if (status)
        return status;
    *format = pgk_file_info_format(pgk_file_info(file));
    if ((*format)->kind != PGK_KIND_INSTR || !pgk_file_holds(file, PGK_KIND_HEAP))
        return 0;
    for (size_t i = 0; (*format)->kind != PGK_KIND_HEAP; i++)
        *format = pgk_format_at(i);
    return 0;
}

const struct cli_verb cmd_report = {
    .name = "report",
    .summary = "writes an HTML page, or files for other viewers",
    .help = help,
    .actions = actions,
    .groups = groups,
    .decide = decide,
    .takes_newest = true,
};
