/* pgokit history: profiles over time. One file per kind, history_<kind>.c. */
#include "history_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: pgokit history KIND FOLDER [OPTION]... [ARGUMENT]...\n\n"
    "Keeps profiles over time in one file of FOLDER, and shows what became of them.\n"
    "KIND is\n\n"
    "  add       adds profiles\n"
    "  show      prints them with what changed\n"
    "  diff      compares two of them\n"
    "  get       writes one of them to a file\n"
    "  page      writes a page with their course\n";

/* ---- times ---- */

enum { S_PER_DAY = 86400, DAYS_MOST = 100000 };

int64_t history_time(const char *option, const char *text)
{
    static const char *const forms[] = {"%Y-%m-%d",          "%Y-%m-%d %H:%M",
                                        "%Y-%m-%dT%H:%M",    "%Y-%m-%d %H:%M:%S",
                                        "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"};
    char *end;
    const long long days = strtoll(text, &end, 10);
    if (end > text && !strcmp(end, "d") && days >= 0 && days <= DAYS_MOST)
        return (int64_t)time(NULL) - days * S_PER_DAY;
    const long long seconds = *text == '@' ? strtoll(text + 1, &end, 10) : -1;
    if (*text == '@' && end > text + 1 && !*end && seconds >= 0)
        return seconds;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm utc = {0};
        const char *rest = strptime(text, forms[i], &utc);
        if (rest && !*rest)
            return (int64_t)timegm(&utc);
    }
    cli_usage(&cmd_history,
              "%s takes a time of UTC such as 2026-11-27 or \"2026-11-27 16:00\", "
              "@SECONDS since 1970, or 30d for 30 days ago",
              option);
}

static void take_since(const struct option_given *given)
{
    *(int64_t *)given->into = history_time("--since", given->value);
}

static void take_until(const struct option_given *given)
{
    *(int64_t *)given->into = history_time("--until", given->value);
}

static const char *kind_word(size_t i)
{
    static const enum pgk_kind kinds[] = {PGK_KIND_HEAP, PGK_KIND_SAMPLE, PGK_KIND_INSTR};
    return i < sizeof kinds / sizeof *kinds ? pgk_kind_name(kinds[i]) : NULL;
}

static void take_kind(const struct option_given *given)
{
    for (size_t i = 0; kind_word(i); i++)
        if (!strcmp(given->value, kind_word(i))) {
            *(const char **)given->into = kind_word(i);
            return;
        }
    option_refuse_word(given);
}

typedef struct pgk_history_query query;

static const struct option_row rows[] = {
    {"since", 0, "TIME",
     "recorded then or later: 2026-11-27, \"2026-11-27 16:00\", @SECONDS, or "
     "30d for 30 days ago; UTC",
     OPTION_CALL_FOR(query, since_s, take_since)},
    {"until", 0, "TIME", "recorded before", OPTION_CALL_FOR(query, until_s, take_until)},
    {"release", 0, "TEXT", "of this version of the program", OPTION_TEXT(query, version)},
    {"host-class", 0, "NAME", "of this class of machines and loads",
     OPTION_TEXT(query, host_class)},
    {"kind", 0, "NAME", "heap, sample or instr", OPTION_CALL_FOR(query, kind, take_kind),
     OPTION_WORDS(kind_word)},
    {"newest", 0, "N", "so many of them (default: all)",
     OPTION_NUMBER(query, newest, 0, 1000000000)},
    {0},
};
const struct option_table history_query_options = {"history query", NULL, rows};

/* ---- the verb ---- */

static const struct cli_verb *const kinds[] = {&history_add, &history_show, &history_diff,
                                               &history_get, &history_page, NULL};

static int run(int argc, char **argv)
{
    if (argc < 2)
        cli_usage(&cmd_history, "name what to do: add, show, diff, get or page");
    for (size_t i = 0; kinds[i]; i++)
        if (!strcmp(argv[1], cli_kind_word(kinds[i])))
            return kinds[i]->run(argc - 1, argv + 1);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        cli_print_help(&cmd_history);
        return cli_finish_output(EXIT_DONE);
    }
    cli_refuse_value(&cmd_history, argv[1],
                     "history takes what to do first (add, show, diff, get or page)");
}

const struct cli_verb cmd_history = {
    .name = "history",
    .summary = "keeps profiles over time, and shows what became of them",
    .help = help,
    .run = run,
    .kinds = kinds,
};
