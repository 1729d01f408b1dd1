/* Profiles for other viewers: the choices on the command line. */
#include "export_choice.h"

#include <stdio.h>
#include <string.h>

static const char page[] = "html";

const char *export_viewers(void)
{
    static char names[256];
    const struct pgk_export_format *f;
    names[0] = '\0';
    for (size_t i = 0, n = 0; (f = pgk_export_format_at(i)) && n < sizeof names; i++)
        if (strcmp(f->name, page))
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", f->name);
    return names;
}

const char *export_viewer(size_t i)
{
    const struct pgk_export_format *f;
    for (size_t at = 0; (f = pgk_export_format_at(at)); at++)
        if (strcmp(f->name, page) && !i--)
            return f->name;
    return NULL;
}

static const char *format_word(size_t i)
{
    const struct pgk_export_format *f = pgk_export_format_at(i);
    return f ? f->name : NULL;
}

static const struct pgk_export_format *find(const char *name)
{
    const struct pgk_export_format *f;
    for (size_t i = 0; (f = pgk_export_format_at(i)) && strcmp(f->name, name); i++)
        ;
    return f;
}

bool export_is_viewer(const char *name)
{
    return strcmp(name, page) && find(name);
}

const char *export_weight_word(size_t i)
{
    return i < PGK_HEAP_WEIGHTS ? pgk_heap_weight_name((enum pgk_heap_weight)i) : NULL;
}

enum pgk_heap_weight export_weight(const struct option_given *given)
{
    for (enum pgk_heap_weight w = 0; w < PGK_HEAP_WEIGHTS; w++)
        if (!strcmp(given->value, pgk_heap_weight_name(w)))
            return w;
    option_refuse_word(given);
}

const char *export_title(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void take_format(const struct option_given *given)
{
    const struct pgk_export_format *f = find(given->value);
    if (!f)
        option_refuse_word(given);
    *(const char **)given->into = f->name;
}

static const struct option_row rows[] = {
    {"output", 'o', "FILE",
     "where to write (default: report.html, or - for other formats); - for standard output",
     OPTION_TEXT(struct report_choice, output), .is_output = true},
    {"format", 0, "NAME", "html, " CLI_VIEWERS,
     OPTION_CALL_FOR(struct report_choice, format, take_format), OPTION_WORDS(format_word)},
    {"base", 0, "OLD", "an older profile to compare with, on the page",
     OPTION_TEXT(struct report_choice, base),
     .page = "give the files of both builds with `-b`"},
    {"on", 0, "FILE",
     "at the lines of this build, of a newer source than -b was profiled with; may be repeated",
     OPTION_LIST(struct report_choice, on)},
    {0},
};
const struct option_table report_choice_options = {"report", NULL, rows};

void report_operand(struct report_choice *choice, int argc, char **argv)
{
    cli_need_one(&cmd_report, argc - optind);
    if (!choice->format)
        choice->format = page;
    bool is_page = !strcmp(choice->format, page);
    if (choice->base && !is_page)
        cli_usage(&cmd_report, "--base works with --format html only; use pgokit diff for text");
    choice->path = argv[optind];
    if (!choice->output)
        choice->output = is_page ? "report.html" : "-";
    cli_for_data(choice->output);
}

void report_note_output(const struct report_choice *choice)
{
    char safe[512];
    if (strcmp(choice->output, "-"))
        cli_note("wrote %s", pgk_human_text(safe, sizeof safe, choice->output));
}
