/* Profiles for other viewers: the choices on the command line. */
#include "export_choice.h"

#include <string.h>

static enum pgk_export find(const char *name)
{
    enum pgk_export f = 0;
    while (f < PGK_EXPORTS && strcmp(name, pgk_export_name(f)))
        f++;
    return f;
}

static enum pgk_export format_named(const char *name)
{
    enum pgk_export format = find(name);
    if (format == PGK_EXPORTS)
        cli_usage(&cmd_report, "--format takes one of " EXPORT_FORMATS ", not '%s'", name);
    return format;
}

bool export_is_viewer(const char *name, enum pgk_export *format)
{
    enum pgk_export found = find(name);
    if (found == PGK_EXPORTS || found == PGK_EXPORT_HTML)
        return false;
    *format = found;
    return true;
}

enum pgk_heap_weight export_weight(const struct cli_verb *verb, const char *name)
{
    for (enum pgk_heap_weight w = 0; w < PGK_WEIGHTS; w++)
        if (!strcmp(name, pgk_heap_weight_name(w)))
            return w;
    cli_usage(verb, "--weight takes bytes, count, accesses or lifetime-bytes, not '%s'", name);
}

const char *export_title(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void report_option(struct report_choice *choice, int option)
{
    switch (option) {
    case 'o':
        choice->output = optarg;
        break;
    case 'F':
        choice->format = format_named(optarg);
        break;
    case 'B':
        choice->base = optarg;
        break;
    }
}

void report_operand(struct report_choice *choice, int argc, char **argv)
{
    if (optind + 1 != argc)
        cli_usage(&cmd_report, "report takes one profile");
    if (choice->base && choice->format != PGK_EXPORT_HTML)
        cli_usage(&cmd_report, "--base compares on the page only; see pgokit diff");
    choice->path = argv[optind];
    if (!choice->output)
        choice->output = choice->format == PGK_EXPORT_HTML ? "report.html" : "-";
}
