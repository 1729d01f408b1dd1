/* pgokit history page: the course of a history as an HTML page, with pages of single profiles. */
#include "history_kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: pgokit history page FOLDER [-o OUTPUT] [OPTION]...\n\n"
    "Writes one HTML page that needs no network: the course of bytes, gain and match\n"
    "rate over the profiles of the history in FOLDER, and what moved from each to the\n"
    "next, with links to the pages of single profiles.\n\n";

static const char examples[] = "  pgokit history page profiles -o history.html\n"
                               "  pgokit history page profiles --since 90d --pages 30 -b ./app\n";

struct page {
    struct cli_common common;
    struct pgk_history_query query;
    const char *output;
    unsigned pages;
};

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "where to write (default: history.html)",
     OPTION_TEXT(struct page, output), .is_output = true},
    {"pages", 0, "N", "pages of the newest N profiles, too, in a folder beside FILE (default 0)",
     OPTION_NUMBER(struct page, pages, 0, 500),
     .page = "those that were added with `--page` have one elsewhere and are left out, as are "
             "counters, which have none. The folder is named like FILE with `-pages` for `.html`"},
    {0},
};
static const struct option_table table = {"history page", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(history_query_options, struct page, query),
    {&table, 0, 0},
    CLI_COMMON(struct page),
    {0}};

/* The newest profiles that need a page. */
struct newest {
    int64_t *ids;
    size_t n, most;
};

static int take(void *ctx, const struct pgk_history_entry *e)
{
    struct newest *w = ctx;
    if (*e->page || !strcmp(e->kind, pgk_kind_name(PGK_KIND_INSTR)) || !w->most)
        return 0;
    if (w->n == w->most)
        memmove(w->ids, w->ids + 1, --w->n * sizeof *w->ids);
    w->ids[w->n++] = e->id;
    return 0;
}

/* In a process of its own: a verb ends its process if something is wrong. */
static bool run_report(const struct page *p, const char *profile, const char *output)
{
    const size_t most = 8 + 2 * p->common.binaries.n;
    const char **words = calloc(most, sizeof *words);
    int status = -1, argc = 0;
    fflush(NULL);
    const pid_t child = words ? fork() : -1;
    if (!child) {
        words[argc++] = "report";
        words[argc++] = profile;
        words[argc++] = "-q";
        words[argc++] = "-o";
        words[argc++] = output;
        for (size_t i = 0; i < p->common.binaries.n; i++) {
            words[argc++] = "--binary";
            words[argc++] = p->common.binaries.v[i];
        }
        optind = 0;
        exit(cli_run_verb(argc, (char **)(uintptr_t)words));
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    free(words);
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_INCOMPLETE;
}

/* A profile that makes no page has no link; what is wrong is on standard error. */
static int write_pages(const struct page *p, struct pgk_history *history, struct newest *w,
                       const char *folder, struct pgk_err *err)
{
    size_t n = 0;
    int status = 0;
    if (w->n && mkdir(folder, 0777) && errno != EEXIST) {
        fprintf(stderr, "pgokit: %s: cannot make the folder: %s\n", folder, strerror(errno));
        exit(EXIT_FAILED);
    }
    for (size_t i = 0; i < w->n && !status; i++) {
        char *profile = NULL, *output = NULL;
        if (asprintf(&profile, "%s/%lld.profile", folder, (long long)w->ids[i]) < 0 ||
            asprintf(&output, "%s/%lld.html", folder, (long long)w->ids[i]) < 0) {
            fputs("pgokit: out of memory\n", stderr);
            exit(EXIT_FAILED);
        }
        status = pgk_history_extract(history, w->ids[i], profile, err);
        if (!status && run_report(p, profile, output))
            w->ids[n++] = w->ids[i];
        unlink(profile);
        free(profile);
        free(output);
    }
    w->n = n;
    return status;
}

/* "history-pages" of "history.html"; to be freed. */
static char *folder_of(const char *output)
{
    const char *dot = strrchr(output, '.');
    const bool is_html = dot && !strcmp(dot, ".html");
    char *folder = NULL;
    if (asprintf(&folder, "%.*s-pages", is_html ? (int)(dot - output) : (int)strlen(output),
                 output) < 0) {
        fputs("pgokit: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    return folder;
}

static int write_all(const struct page *p, struct pgk_history *history, const char *title,
                     struct pgk_err *err)
{
    int64_t ids[500];
    struct newest w = {ids, 0, p->pages};
    char *folder = folder_of(p->output);
    int status = pgk_history_walk(history, &p->query, take, &w, err);
    status = status ? status : write_pages(p, history, &w, folder, err);
    if (!status)
        status = pgk_history_write_page(history, &p->query, title, cli_base_name(folder), w.ids,
                                        w.n, p->output, err);
    free(folder);
    return status;
}

static int run(int argc, char **argv)
{
    struct page p = {.query = {.struct_size = sizeof p.query}, .output = "history.html"};
    struct pgk_history *history = NULL;
    struct pgk_err err = {0};
    option_parse(&history_page, groups, argc, argv, &p);
    if (optind + 1 != argc)
        cli_usage(&history_page, "history page takes one folder");
    if (!strcmp(p.output, "-") && p.pages)
        cli_usage(&history_page, "--pages needs a file to write beside, not standard output");
    int status = pgk_history_open(&history, argv[optind], false, &err);
    status = status ? status : write_all(&p, history, cli_base_name(argv[optind]), &err);
    pgk_history_close(&history);
    cli_common_free(&p.common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

const struct cli_verb history_page = {.name = "history page",
                                      .summary = "writes a page with their course",
                                      .help = help,
                                      .run = run,
                                      .groups = groups,
                                      .examples = examples};
