/* pgokit help: manual pages. */
#include "record.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: pgokit help [--markdown] [VERB]\n\n"
    "Shows the manual page of a verb, with man(1). Where the pages or man(1) are not\n"
    "installed, prints what pgokit VERB --help does; without a verb, all verbs.\n\n";

struct help {
    struct cli_common common;
    bool markdown;
};

static const struct option_row rows[] = {
    {"markdown", 0, NULL,
     "the tables of options that the manual pages have, of this verb or of all",
     OPTION_FLAG(struct help, markdown)},
    {0},
};
static const struct option_table table = {"help", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct help), {0}};

static void print_markdown(const struct cli_verb *only)
{
    for (const struct cli_verb *const *v = cli_verbs; *v; v++)
        if (!only || *v == only)
            option_print_markdown(*v);
}

/* Returns if it cannot. */
static void show_page(const char *verb)
{
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "pgokit-%s.1", verb);
    if (!installed_find(path, PGK_BIN_TO_MAN, name)) {
        strcat(name, ".gz"); /* as distributions install it */
        if (!installed_find(path, PGK_BIN_TO_MAN, name))
            return;
    }
    execlp("man", "man", path, (char *)NULL);
}

static int run(int argc, char **argv)
{
    struct help o = {0};
    option_parse(&cmd_help, groups, argc, argv, &o);
    cli_common_free(&o.common);
    if (argc - optind > 1)
        cli_usage(&cmd_help, "help takes one verb");
    const struct cli_verb *verb = optind < argc ? cli_find_verb(argv[optind]) : NULL;
    if (optind < argc && !verb)
        return EXIT_FAILED;
    cli_for_people(o.markdown ? CLI_EXACT : CLI_PEOPLE);
    if (o.markdown) {
        print_markdown(verb);
        return cli_finish_output(EXIT_DONE);
    }
    if (!verb) {
        cli_print_verbs(stdout);
        return cli_finish_output(EXIT_DONE);
    }
    show_page(verb->name);
    cli_print_help(verb);
    return cli_finish_output(EXIT_DONE);
}

const struct cli_verb cmd_help = {
    .name = "help",
    .summary = "shows the manual page of a verb",
    .help = help,
    .run = run,
    .groups = groups,
};
