/* pgokit formats: the table of formats. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static const char help[] = "usage: pgokit formats [--markdown | --json]\n\n"
                           "Lists the formats and versions that are read and written.\n\n";

struct formats {
    struct cli_common common;
    bool markdown, json;
};

static const struct option_row rows[] = {
    {"markdown", 0, NULL, "as a Markdown table", OPTION_FLAG(struct formats, markdown),
     .page = "it is that of [docs/formats](../formats/README.md)"},
    {"json", 0, NULL, "as JSON", OPTION_FLAG(struct formats, json),
     .page = "it is an array of objects with `name`, `kind`, `reads`, `writes`, `made_by`"},
    {0},
};
static const struct option_table table = {"formats", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct formats), {0}};

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

static void print_text(const struct pgk_format *f)
{
    printf("%s%s%s (%s)\n  reads    %s\n  writes   %s\n  made by  %s\n  page     docs/formats/%s\n",
           CLI_STYLE(CLI_BOLD), f->name, CLI_STYLE(CLI_PLAIN), pgk_kind_name(f->kind),
           or_dash(f->reads), or_dash(f->writes), f->made_by, f->page);
}

static void print_markdown(const struct pgk_format *f)
{
    printf("| [%s](%s) | %s | %s | %s | %s |\n", f->name, f->page,
           pgk_kind_name(f->kind), or_dash(f->reads), or_dash(f->writes), f->made_by);
}

static int run(int argc, char **argv)
{
    struct formats o = {0};
    option_parse(&cmd_formats, groups, argc, argv, &o);
    cli_common_free(&o.common);
    if (optind != argc)
        cli_usage(&cmd_formats, "formats takes no file");
    cli_for_people(o.json || o.markdown ? CLI_EXACT : CLI_PEOPLE);
    if (o.json) {
        pgk_formats_print_json(stdout);
        return cli_finish_output(EXIT_DONE);
    }
    if (o.markdown)
        puts("| format | kind | reads | writes | made by |\n|---|---|---|---|---|");
    const struct pgk_format *f;
    for (size_t i = 0; (f = pgk_format_at(i)); i++) {
        if (o.markdown)
            print_markdown(f);
        else
            print_text(f);
    }
    return cli_finish_output(EXIT_DONE);
}

const struct cli_verb cmd_formats = {
    .name = "formats",
    .summary = "lists the formats that are read and written",
    .help = help,
    .run = run,
    .groups = groups,
};
