/* pgokit diff: what changed between two profiles of one kind. */
#include "cli.h"
#include "diff_form.h"

#include <string.h>

static const char help[] = "usage: pgokit diff BEFORE NOW [-b BINARY]...\n\n"
                           "Says what changed between two profiles of one kind, for people, for\n"
                           "programs, and for continuous integration.\n";

void diff_form_option(enum diff_form *form, int option)
{
    static const char *const names[] = {
        [DIFF_TEXT] = "text", [DIFF_MARKDOWN] = "markdown", [DIFF_JSON] = "json"};
    if (option == 'J')
        *form = DIFF_JSON;
    if (option != 'F')
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(optarg, names[i])) {
            *form = (enum diff_form)i;
            return;
        }
    cli_usage(&cmd_diff, "--format takes text, markdown or json, not '%s'", optarg);
}

static const struct cli_action *const actions[] = {
    &diff_heap,
    &diff_instr,
    &diff_sample,
    NULL,
};

const struct cli_verb cmd_diff = {
    .name = "diff",
    .summary = "compares two profiles",
    .help = help,
    .exit_help = "0 done, 2 failed, 3 done and a limit of --fail-on is reached",
    .actions = actions,
};
