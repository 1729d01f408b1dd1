/* pgokit help: manual pages. */
#include "record.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: pgokit help [VERB]\n\n"
    "Shows the manual page of a verb, with man(1). Where the pages or man(1) are not installed,\n"
    "prints what pgokit VERB --help does; without a verb, all verbs.\n";

static const struct option options[] = {CLI_COMMON_LONG, {0}};

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
    struct cli_common common = {0};
    while (cli_next_option(&cmd_help, argc, argv, "", options, &common) != -1)
        ;
    cli_common_free(&common);
    if (argc - optind > 1)
        cli_usage(&cmd_help, "help takes one verb");
    if (optind == argc) {
        cli_print_verbs(stdout);
        return cli_finish_output(EXIT_DONE);
    }
    const struct cli_verb *verb = cli_find_verb(argv[optind]);
    if (!verb)
        return EXIT_FAILED;
    show_page(verb->name);
    cli_print_help(verb);
    return cli_finish_output(EXIT_DONE);
}

const struct cli_verb cmd_help = {
    .name = "help",
    .summary = "shows the manual page of a verb",
    .help = help,
    .run = run,
    .options = options,
};
