/* pgokit diff: what changed between two profiles of one kind. */
#include "cli.h"
#include "diff_form.h"

#include <string.h>

static const char help[] = "usage: pgokit diff BEFORE NOW [-b BINARY]...\n\n"
                           "Says what changed between two profiles of one kind, for people, for\n"
                           "programs, and for continuous integration.\n";

static const struct option_choice forms[] = {
    {"text", DIFF_TEXT}, {"markdown", DIFF_MARKDOWN}, {"json", DIFF_JSON}, {0}};

struct form {
    enum diff_form form;
};

static const struct option_row rows[] = {
    {"format", 0, "NAME",
     "text (default), markdown, which is for the summary of a job, or json",
     OPTION_CHOICE(struct form, form, forms), .page = "see [Markdown](#markdown)"},
    {"json", 0, NULL, "all of it as JSON", OPTION_VALUE(struct form, form, DIFF_JSON),
     .page = "see [heap-json](../formats/heap-json.md), [instr-json](../formats/instr-json.md), "
             "[sample-json](../formats/sample-json.md)"},
    {0},
};
const struct option_table diff_form_options = {"diff form", NULL, rows};

void diff_form_output(enum diff_form form)
{
    cli_for_people(form == DIFF_TEXT ? CLI_PEOPLE : CLI_EXACT);
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
