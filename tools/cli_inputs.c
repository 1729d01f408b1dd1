/* The inputs of a merge: folders among the operands are replaced by the profiles in them. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct folder {
    const struct cli_verb *verb;
    struct pgk_input input;
    struct stat output; /* what is written to; st_ino 0: it is not there */
    struct cli_list *found;
    struct cli_list left_out; /* not profiles, or the output */
    bool has_gcov;
};

/* Of names made here those from `first` on. */
static void drop_names(struct cli_list *list, size_t first)
{
    while (list->n > first)
        free((void *)(uintptr_t)list->v[--list->n]);
}

static char *copy(const char *text)
{
    char *s = strdup(text);
    if (!s)
        cli_usage(&cmd_merge, "out of memory");
    return s;
}

static bool is_output(const struct folder *f, const char *path)
{
    struct stat st;
    return f->output.st_ino && !stat(path, &st) && st.st_ino == f->output.st_ino &&
           st.st_dev == f->output.st_dev;
}

static int add_file(void *ctx, const char *path, const struct pgk_format *format)
{
    struct folder *f = ctx;
    char *operand;
    if (!format || is_output(f, path)) {
        cli_list_add(&f->left_out, copy(path));
        return 0;
    }
    f->has_gcov |= format->kind == PGK_KIND_GCOV;
    if (asprintf(&operand, "%s%s@%llu", *path == '-' ? "./" : "", path,
                 (unsigned long long)f->input.weight) < 0)
        cli_usage(f->verb, "out of memory");
    cli_list_add(f->found, operand);
    return 0;
}

static void note_left_out(const struct folder *f)
{
    enum { SHOWN = 5 };
    char safe[256];
    size_t n = f->left_out.n;
    if (!n)
        return;
    fprintf(stderr,
            "pgokit: note: %zu file%s of %s left out, because %s empty, not %s or the "
            "output itself:\n",
            n, n == 1 ? "" : "s", pgk_human_text(safe, sizeof safe, f->input.path),
            n == 1 ? "it is" : "they are", n == 1 ? "a profile" : "profiles");
    for (size_t i = 0; i < n && i < SHOWN; i++)
        fprintf(stderr, "pgokit:   %s\n", pgk_human_text(safe, sizeof safe, f->left_out.v[i]));
    if (n > SHOWN)
        fprintf(stderr, "pgokit:   and %zu more\n", n - SHOWN);
}

/* False if the folder stays an operand: a program's counters of gcc lie in folders that are merged
 * as such. */
static bool expand(struct folder *f, bool quiet)
{
    struct pgk_err err = {0};
    char safe[256];
    size_t before = f->found->n;
    if (pgk_folder_walk(f->input.path, add_file, f, &err))
        exit(cli_fail(&err));
    bool expands = !f->has_gcov;
    if (!expands)
        drop_names(f->found, before);
    else if (!quiet)
        note_left_out(f);
    drop_names(&f->left_out, 0);
    cli_list_free(&f->left_out);
    if (expands && f->found->n == before)
        cli_usage(f->verb, "%s is a folder without any profile in it",
                  pgk_human_text(safe, sizeof safe, f->input.path));
    return expands;
}

void cli_expand_folders(const struct cli_verb *verb, const char *output, bool quiet, int first,
                        int *argc, char ***argv)
{
    static struct cli_list list; /* as long-lived as the arguments of main */
    struct stat written = {0};
    list = (struct cli_list){0}; /* what an earlier call made is its caller's */
    if (!output || stat(output, &written) || !S_ISREG(written.st_mode))
        written.st_ino = 0;
    for (int i = 0; i < *argc; i++) {
        struct folder f = {.verb = verb, .output = written, .found = &list};
        if (i >= first)
            f.input = cli_input(verb, (*argv)[i]);
        if (i < first || !cli_is_folder(f.input.path) || !expand(&f, quiet))
            cli_list_add(&list, (*argv)[i]);
    }
    *argc = (int)list.n;
    cli_list_add(&list, NULL);
    *argv = (char **)list.v;
}
