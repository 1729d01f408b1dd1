/* pgokit history show: the profiles of a history, and what changed. */
#include "history_kinds.h"

static const char help[] =
    "usage: pgokit history show FOLDER [OPTION]...\n\n"
    "Prints the profiles of the history in FOLDER, the oldest first, each with what\n"
    "changed since the one before it of its host class and kind; then the functions\n"
    "whose shares differ most between the last and the first of its class.\n\n";

static const char examples[] =
    "  pgokit history show profiles --since 30d\n"
    "  pgokit history show profiles --host-class web --kind heap --json\n";

struct show {
    struct cli_common common;
    struct pgk_history_query query;
    size_t top;
    bool top_given, json;
};

static const struct option_row rows[] = {
    {"top", 0, "N", "functions shown (default 10; 0: none)",
     OPTION_NUMBER(struct show, top, 0, 1000000000), OPTION_GIVEN(struct show, top_given)},
    {"json", 0, NULL, "as JSON", OPTION_FLAG(struct show, json), .page = "see [JSON](#json)"},
    {0},
};
static const struct option_table table = {"history show", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(history_query_options, struct show, query),
    {&table, 0, 0},
    CLI_COMMON(struct show),
    {0}};

static int run(int argc, char **argv)
{
    struct show s = {.query = {.struct_size = sizeof s.query}, .top = 10};
    struct pgk_history *history = NULL;
    struct pgk_err err = {0};
    option_parse(&history_show, groups, argc, argv, &s);
    if (optind + 1 != argc)
        cli_usage(&history_show, "history show takes one folder");
    cli_for_people(CLI_EXACT);
    int status = pgk_history_open(&history, argv[optind], false, &err);
    if (!status)
        status = s.json ? pgk_history_print_json(history, &s.query, s.top, stdout, &err)
                        : pgk_history_print_table(history, &s.query, s.top, stdout, &err);
    pgk_history_close(&history);
    cli_common_free(&s.common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

const struct cli_verb history_show = {.name = "history show",
                                      .summary = "prints them with what changed",
                                      .help = help,
                                      .run = run,
                                      .groups = groups,
                                      .examples = examples};
