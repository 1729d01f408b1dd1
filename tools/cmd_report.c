/* pgokit report: a profile as a page to look at, or for other viewers. */
#include "cli.h"

static const char help[] =
    "usage: pgokit report PROFILE [-b BINARY]... [-o OUTPUT]\n\n"
    "Writes a profile as one HTML page that needs no network, or in the format of another "
    "viewer.\n\n"
    "  -o, --output FILE    where to write (default: report.html, or - for other formats);\n"
    "                       - for standard output\n";

static const struct cli_action *const actions[] = {&report_heap, &report_sample, NULL};

static bool has_heap(const char *path)
{
    struct pgk_instr *instr;
    struct pgk_file_info info = {0};
    if (pgk_instr_new(&instr, NULL))
        return false;
    bool found = !pgk_instr_read(instr, path, 1, &info, NULL) && info.has_heap;
    pgk_instr_close(&instr);
    return found;
}

/* Heap data that shares a file with counters makes a page as well. */
static int decide(int n_operands, char *const *operands, const struct pgk_format **format,
                  struct pgk_err *err)
{
    (void)n_operands;
    int status = pgk_format_detect(operands[0], format, err);
    if (status || (*format)->kind != PGK_KIND_INSTR || !has_heap(operands[0]))
        return status;
    for (size_t i = 0; (*format)->kind != PGK_KIND_HEAP; i++)
        *format = pgk_format_at(i);
    return 0;
}

const struct cli_verb cmd_report = {
    .name = "report",
    .summary = "writes a page to look at, or files for other viewers",
    .help = help,
    .actions = actions,
    .decide = decide,
};
