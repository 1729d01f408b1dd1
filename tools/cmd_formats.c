/* pgokit formats: the table of formats. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static const char help[] = "usage: pgokit formats [--markdown | --json]\n\n"
                           "Lists the formats and versions that are read and written.\n\n"
                           "      --markdown   as a Markdown table\n"
                           "      --json       as JSON\n";

enum { OPT_MARKDOWN = 256, OPT_JSON };

static const struct option options[] = {
    {"markdown", no_argument, NULL, OPT_MARKDOWN},
    {"json", no_argument, NULL, OPT_JSON},
    CLI_COMMON_LONG,
    {0},
};

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

static void print_text(const struct pgk_format *f)
{
    printf("%s (%s)\n  reads    %s\n  writes   %s\n  made by  %s\n  page     docs/formats/%s\n",
           f->name, pgk_kind_name(f->kind), or_dash(f->reads), or_dash(f->writes), f->made_by,
           f->page);
}

static void print_markdown(const struct pgk_format *f)
{
    printf("| [%s](%s) | %s | %s | %s | %s |\n", f->name, f->page,
           pgk_kind_name(f->kind), or_dash(f->reads), or_dash(f->writes), f->made_by);
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    int view = 0;
    for (int c; (c = cli_next_option(&cmd_formats, argc, argv, "", options, &common)) != -1;)
        view = c;
    if (optind != argc)
        cli_usage(&cmd_formats, "formats takes no file");
    if (view == OPT_JSON) {
        pgk_formats_print_json(stdout);
        cli_common_free(&common);
        return cli_finish_output(EXIT_DONE);
    }
    if (view == OPT_MARKDOWN)
        puts("| format | kind | reads | writes | made by |\n|---|---|---|---|---|");
    const struct pgk_format *f;
    for (size_t i = 0; (f = pgk_format_at(i)); i++) {
        if (view == OPT_MARKDOWN)
            print_markdown(f);
        else
            print_text(f);
    }
    cli_common_free(&common);
    return cli_finish_output(EXIT_DONE);
}

const struct cli_verb cmd_formats = {
    .name = "formats",
    .summary = "lists the formats that are read and written",
    .help = help,
    .run = run,
    .options = options,
};
