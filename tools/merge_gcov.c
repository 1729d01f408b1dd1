/* pgokit merge for counters of gcc: files of one object file, or folders of whole programs. */
#include "output_gcov.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "The .gcda files that one object file left in several runs become one, for gcc's\n"
    "-fprofile-use or gcov. Of folders those files become one that lie in the same\n"
    "place in each, and the output is such a folder. An input FILE@N or FOLDER@N\n"
    "counts N times.\n\n";

static const char examples[] =
    "  pgokit merge run1/app.gcda run2/app.gcda -o app.gcda\n"
    "  pgokit merge run1 run2@3 -o merged\n";

/* One object file's counters. */
struct sum {
    char *place; /* in the folders; "" for files that were named themselves */
    struct pgk_gcov *gcov;
};

struct merge {
    struct cli_common common;
    const char *output, *to; /* the file or folder; the release of gcc, or NULL */
    struct cli_factor scale; /* times is 0 if there is none */
    uint64_t normalize;      /* 0: not so */
    int exit_code;
    struct sum *sums;
    size_t n;
};

static void take_scale(const struct option_given *given)
{
    *(struct cli_factor *)given->into = cli_factor("--scale", given->value, strlen(given->value));
}

static const struct option_row rows[] = {
    {"scale", 0, "FACTOR", "multiply the sums: 0.25, cutting off fractions, or 1/4, rounding",
     OPTION_CALL_FOR(struct merge, scale, take_scale)},
    {"normalize", 0, "N", "multiply the sums so that the largest count of an arc is N",
     OPTION_NUMBER(struct merge, normalize, 1, INT64_MAX),
     .page = "the largest one of all files in a folder counts"},
    GCOV_TO_ROW(struct merge, to),
    {0},
};
static const struct option_table table = {"merge gcc", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(cli_output_option, struct merge, output),
    {&table, 0, 0},
    CLI_COMMON(struct merge),
    {0},
};

static struct pgk_gcov *sum_at(struct merge *m, const char *place, struct pgk_err *err)
{
    for (size_t i = 0; i < m->n; i++)
        if (!strcmp(m->sums[i].place, place))
            return m->sums[i].gcov;
    struct sum new = {.place = strdup(place)};
    struct sum *grown = realloc(m->sums, (m->n + 1) * sizeof *grown);
    if (grown)
        m->sums = grown;
    if (!new.place || !grown)
        cli_usage(&cmd_merge, "out of memory");
    if (pgk_gcov_new(&new.gcov, err)) {
        free(new.place);
        return NULL;
    }
    m->sums[m->n++] = new;
    return new.gcov;
}

static int add_file(struct merge *m, const char *place, const char *path, uint64_t weight,
                    struct pgk_err *err)
{
    struct pgk_gcov *gcov = sum_at(m, place, err);
    return gcov ? pgk_gcov_read(gcov, path, weight, err) : err->status;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && !strcmp(name + n - k, suffix);
}

static int refuse(struct pgk_err *err, const char *what, const char *path)
{
    *err = (struct pgk_err){.status = PGK_E_IO, .sys_errno = errno, .offset = PGK_NO_OFFSET};
    snprintf(err->found, sizeof err->found, "%s", what);
    snprintf(err->file, sizeof err->file, "%s", path);
    return PGK_E_IO;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int add_folder(struct merge *m, const struct pgk_input *folder, struct pgk_err *err)
{
    char *const roots[] = {(char *)(uintptr_t)folder->path, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    int status = walk ? 0 : refuse(err, "cannot look into the folder", folder->path);
    size_t skip = strlen(folder->path);
    while (skip && folder->path[skip - 1] == '/')
        skip--;
    for (FTSENT *e; !status && (e = fts_read(walk));) {
        errno = e->fts_errno;
        if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR)
            status = refuse(err, "cannot look into the folder", e->fts_path);
        else if (e->fts_info == FTS_F && has_suffix(e->fts_name, ".gcda"))
            status = add_file(m, e->fts_path + skip + strspn(e->fts_path + skip, "/"), e->fts_path,
                              folder->weight, err);
    }
    if (walk)
        fts_close(walk);
    return status;
}

/* Makes the folders that a path leads through. */
static int make_folders(char *path, struct pgk_err *err)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        if (mkdir(path, 0777) && errno != EEXIST)
            return refuse(err, "cannot make the folder", path);
    }
    return 0;
}

static int save(const struct merge *m, const struct sum *s, struct pgk_err *err)
{
    char *path;
    if (!*s->place)
        return pgk_gcov_write(s->gcov, m->output, err);
    if (asprintf(&path, "%s/%s", m->output, s->place) < 0)
        cli_usage(&cmd_merge, "out of memory");
    int status = make_folders(path, err);
    if (!status)
        status = pgk_gcov_write(s->gcov, path, err);
    free(path);
    return status;
}

static void parse(struct merge *m, int argc, char **argv)
{
    option_parse(&cmd_merge, groups, argc, argv, m);
    if (!m->output)
        cli_usage(&cmd_merge, "no output: name it with -o");
    if (m->scale.times && m->normalize)
        cli_usage(&cmd_merge, "--scale and --normalize contradict one another");
    for (int i = optind; i < argc; i++)
        if (cli_is_folder(cli_input(&cmd_merge, argv[i]).path) !=
            cli_is_folder(cli_input(&cmd_merge, argv[optind]).path))
            cli_usage(&cmd_merge, "give files, or folders, not both");
}

/* All object files of a program by one factor. */
static void scale(const struct merge *m)
{
    int64_t largest = 0;
    for (size_t i = 0; i < m->n; i++) {
        int64_t of_file = pgk_gcov_largest(m->sums[i].gcov);
        largest = of_file > largest ? of_file : largest;
    }
    for (size_t i = 0; i < m->n; i++)
        if (m->scale.times)
            pgk_gcov_scale(m->sums[i].gcov, m->scale.times, m->scale.by, m->scale.is_fraction);
        else if (m->normalize && largest)
            pgk_gcov_scale(m->sums[i].gcov, m->normalize, (uint64_t)largest, false);
}

/* All is read before anything is written. */
static int merge_all(struct merge *m, int n, char *const *operands, struct pgk_err *err)
{
    int status = 0;
    for (int i = 0; i < n && !status; i++) {
        struct pgk_input input = cli_input(&cmd_merge, operands[i]);
        status = cli_is_folder(input.path) ? add_folder(m, &input, err)
                                           : add_file(m, "", input.path, input.weight, err);
    }
    if (!status && !m->n)
        cli_usage(&cmd_merge, "%s is a directory without any .gcda file; name the profiles in it",
                  operands[0]);
    for (size_t i = 0; i < m->n && !status; i++)
        status = gcov_output_release(m->sums[i].gcov, m->to, &m->exit_code, err);
    if (!status)
        scale(m);
    for (size_t i = 0; i < m->n && !status; i++)
        status = save(m, &m->sums[i], err);
    return status;
}

static int run(int argc, char **argv)
{
    struct merge m = {0};
    struct pgk_err err = {0};
    parse(&m, argc, argv);
    int status = merge_all(&m, argc - optind, argv + optind, &err);
    if (!status && *m.sums[0].place && !m.common.quiet)
        fprintf(stderr, "pgokit: note: %zu .gcda file%s written below %s\n", m.n,
                m.n == 1 ? "" : "s", m.output);
    for (size_t i = 0; i < m.n; i++) {
        free(m.sums[i].place);
        pgk_gcov_close(&m.sums[i].gcov);
    }
    free(m.sums);
    cli_common_free(&m.common);
    return status ? cli_fail(&err) : m.exit_code;
}

const struct cli_action merge_gcov = {
    PGK_KIND_GCOV, help, .run = run, .groups = groups, .examples = examples};
