/* Selects the file whose counts of a run of the branch recorder are used, if the user named
 * none. */
#include "record_branches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files of all recordings. */
struct seen {
    size_t n;
    struct seen_file {
        char *path;
        uint64_t branches;
    } * v;
    uint64_t branches; /* of all */
};

static void out_of_memory(void)
{
    fputs("pgokit: out of memory\n", stderr);
    exit(EXIT_RECORD_FAILED);
}

static void add_file(struct seen *seen, const struct pgk_branches_file *file)
{
    size_t i = 0;
    seen->branches += file->branches;
    while (i < seen->n && strcmp(seen->v[i].path, file->path))
        i++;
    if (i == seen->n) {
        struct seen_file *v = realloc(seen->v, (i + 1) * sizeof *v);
        if (!v || !(v[i].path = strdup(file->path)))
            out_of_memory();
        v[i].branches = 0;
        seen->v = v;
        seen->n++;
    }
    seen->v[i].branches += file->branches;
}

static struct seen read_all(const struct record_files *files)
{
    struct seen seen = {0};
    for (size_t i = 0; i < files->n; i++) {
        struct pgk_branches *b;
        struct pgk_branches_file file = {.struct_size = sizeof file};
        if (pgk_branches_open(&b, files->v[i].path, NULL))
            continue; /* which is reported by whoever counts */
        for (size_t k = 0; pgk_branches_file_at(b, k, &file); k++)
            add_file(&seen, &file);
        pgk_branches_close(&b);
    }
    return seen;
}

static bool is_same(const char *path, const struct stat *file)
{
    struct stat st;
    return !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static double percent(uint64_t n, uint64_t of)
{
    return of ? 100.0 * (double)n / (double)of : 0;
}

/* A program that only calls a library or starts others is not worth counting: if it has less than a
 * tenth of the branches, the file with the most is used instead. */
char *record_branches_choose(const struct record_files *files, const char *program, bool quiet)
{
    enum { TENTH = 10 };
    struct stat st;
    char safe[2][512];
    uint64_t own = 0;
    const struct seen_file *most = NULL;
    struct seen seen = read_all(files);
    const bool known = !stat(program, &st);
    for (size_t i = 0; i < seen.n; i++) {
        const struct seen_file *f = &seen.v[i];
        own += known && is_same(f->path, &st) ? f->branches : 0;
        if (f->branches && (!most || f->branches > most->branches) && !access(f->path, R_OK))
            most = f;
    }
    const bool other = most && own < seen.branches / TENTH && !(known && is_same(most->path, &st));
    char *chosen = strdup(other ? most->path : program);
    if (!chosen)
        out_of_memory();
    if (other && !quiet)
        fprintf(stderr,
                "pgokit: %s has %.1f %% of the branches: the counts are of %s, which has most "
                "(%.1f %%); choose another with -b\n",
                pgk_human_text(safe[0], sizeof safe[0], program), percent(own, seen.branches),
                pgk_human_text(safe[1], sizeof safe[1], chosen),
                percent(most->branches, seen.branches));
    for (size_t i = 0; i < seen.n; i++)
        free(seen.v[i].path);
    free(seen.v);
    return chosen;
}
