/* pgokit history diff and get: profiles of a history as files again. */
#include "history_kinds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- get ---- */

struct get {
    struct cli_common common;
    const char *output;
};

static const struct option_row get_rows[] = {
    {"output", 'o', "FILE", "where to write it; - for standard output",
     OPTION_TEXT(struct get, output), .is_output = true},
    {0},
};
static const struct option_table get_table = {"history get", NULL, get_rows};
static const struct option_group get_groups[] = {{&get_table, 0, 0}, CLI_COMMON(struct get), {0}};

static int extract(struct pgk_history *history, const char *what, const char *path,
                   struct pgk_err *err)
{
    int64_t id;
    int status = pgk_history_find(history, what, &id, err);
    return status ? status : pgk_history_extract(history, id, path, err);
}

static int run_get(int argc, char **argv)
{
    struct get g = {0};
    struct pgk_history *history = NULL;
    struct pgk_err err = {0};
    option_parse(&history_get, get_groups, argc, argv, &g);
    if (optind + 2 != argc || !g.output)
        cli_usage(&history_get, "history get takes a folder, a profile and -o FILE");
    int status = pgk_history_open(&history, argv[optind], false, &err);
    status = status ? status : extract(history, argv[optind + 1], g.output, &err);
    pgk_history_close(&history);
    cli_common_free(&g.common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

const struct cli_verb history_get = {
    .name = "history get",
    .summary = "writes one of them to a file",
    .help = "usage: pgokit history get FOLDER PROFILE -o FILE\n\n"
            "Writes a profile of the history to a file, as it was added. PROFILE is its id,\n"
            "a version, of which it is the newest, or last.\n\n",
    .run = run_get,
    .groups = get_groups,
    .examples = "  pgokit history get profiles v1.4 -o app.memprofdata\n"};

/* ---- diff ---- */

static const char diff_help[] =
    "usage: pgokit history diff FOLDER BEFORE NOW [-b BINARY]... [-- OPTION...]\n\n"
    "Compares two profiles of the history, as pgokit diff does, which gets the\n"
    "options after --. BEFORE and NOW are ids, or versions, of which they are the\n"
    "newest, or last.\n\n";

struct diff {
    struct cli_common common;
};
static const struct option_group diff_groups[] = {CLI_COMMON(struct diff), {0}};

/* The files that pgokit diff reads; they go away however it ends. */
static char *folder;
static char *files[2];

static void delete_files(void)
{
    for (size_t i = 0; i < 2; i++)
        if (files[i])
            unlink(files[i]);
    rmdir(folder);
}

static void make_folder(void)
{
    const char *in = getenv("TMPDIR");
    if (asprintf(&folder, "%s/pgokit-history-XXXXXX", in && *in ? in : "/tmp") < 0 ||
        !mkdtemp(folder)) {
        perror("pgokit: cannot make a temporary folder");
        exit(EXIT_FAILED);
    }
    atexit(delete_files);
}

/* Named after what the user has called it, which is the title of the comparison. */
static bool name_file(size_t i, const char *what)
{
    char safe[128];
    pgk_human_text(safe, sizeof safe, what);
    for (char *c = safe; *c; c++)
        *c = *c == '/' ? '_' : *c;
    return asprintf(&files[i], "%s/%s%s", folder, safe,
                    i && !strcmp(cli_base_name(files[0]), safe) ? " now" : "") >= 0;
}

static int run_verb(const struct cli_common *common, int n, char **more)
{
    const size_t most = 8 + 2 * common->binaries.n + (size_t)n;
    const char **words = calloc(most, sizeof *words);
    int argc = 0;
    if (!words) {
        fputs("pgokit: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    words[argc++] = "diff";
    words[argc++] = files[0];
    words[argc++] = files[1];
    for (size_t i = 0; i < common->binaries.n; i++) {
        words[argc++] = "--binary";
        words[argc++] = common->binaries.v[i];
    }
    for (int i = 0; i < n; i++)
        words[argc++] = more[i];
    optind = 0;
    const int exit_code = cli_run_verb(argc, (char **)(uintptr_t)words);
    free(words);
    return exit_code;
}

static int run_diff(int argc, char **argv)
{
    struct diff d = {0};
    struct pgk_history *history = NULL;
    struct pgk_err err = {0};
    option_parse(&history_diff, diff_groups, argc, argv, &d);
    if (argc - optind < 3)
        cli_usage(&history_diff, "history diff takes a folder and two profiles");
    char **operands = argv + optind;
    const int more = argc - optind - 3;
    int status = pgk_history_open(&history, operands[0], false, &err);
    if (!status)
        make_folder();
    for (size_t i = 0; i < 2 && !status; i++)
        status = name_file(i, operands[1 + i]) ? extract(history, operands[1 + i], files[i], &err)
                                               : PGK_E_NOMEM;
    pgk_history_close(&history);
    const int exit_code = status ? cli_fail(&err) : run_verb(&d.common, more, operands + 3);
    cli_common_free(&d.common);
    return exit_code;
}

const struct cli_verb history_diff = {
    .name = "history diff",
    .summary = "compares two of them",
    .help = diff_help,
    .exit_help = "0 done, 2 failed, 3 done and a limit of --fail-on is reached",
    .run = run_diff,
    .groups = diff_groups,
    .examples = "  pgokit history diff profiles v1.3 v1.4 -b ./app\n"
                "  pgokit history diff profiles v1.4 last -- --fail-on growth=10%\n"};
