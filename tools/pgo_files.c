/* The programs and shared libraries that a build makes: finds them, keeps both forms of them, and
 * puts one or the other in its place. */
#include "pgo.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 32 };

/* For nftw, which hands nothing on. */
static struct {
    struct pgo_files *files;
    struct timespec since;
} search;

static bool is_newer(const struct stat *s, struct timespec since)
{
    return s->st_mtim.tv_sec > since.tv_sec ||
           (s->st_mtim.tv_sec == since.tv_sec && s->st_mtim.tv_nsec >= since.tv_nsec);
}

static bool is_linked(const char *path)
{
    struct pgk_binaries *one = NULL;
    struct pgk_err why = {0};
    const bool linked = !pgk_binaries_new(&one, NULL, &why) && !pgk_binaries_add(one, path, &why);
    pgk_binaries_close(&one);
    return linked;
}

static void add(struct pgo_files *files, const char *path)
{
    struct pgo_file *more = realloc(files->v, (files->n + 1) * sizeof *more);
    char *copy = strdup(path);
    if (!more || !copy)
        pgo_stop("out of memory");
    files->v = more;
    files->v[files->n++] = (struct pgo_file){.path = copy};
}

static int look_at(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)at;
    if (kind == FTW_F && S_ISREG(s->st_mode) && is_newer(s, search.since) && is_linked(path))
        add(search.files, path);
    return 0;
}

void pgo_find_files(struct pgo_files *files, const struct cli_list *chosen, struct timespec since)
{
    char safe[256];
    for (size_t i = 0; i < chosen->n; i++) {
        if (!is_linked(chosen->v[i]))
            pgo_stop("after the build, %s is not a program or shared library. Is it the file that "
                     "the build makes?",
                     pgk_human_text(safe, sizeof safe, chosen->v[i]));
        add(files, chosen->v[i]);
    }
    if (chosen->n)
        return;
    search.files = files;
    search.since = since;
    if (nftw(".", look_at, OPEN_FOLDERS, FTW_PHYS | FTW_MOUNT))
        pgo_stop("cannot read the current folder: %s", strerror(errno));
    if (!files->n)
        pgo_stop("the build made no program below the current folder. If an earlier build has made "
                 "it, remove it before each build by --clean 'make clean'. If the build makes it "
                 "elsewhere, name it with -b");
}

static void copy(const char *from, const char *to)
{
    struct stat s;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0 || fstat(in, &s))
        pgo_stop("cannot read %s: %s", from, strerror(errno));
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, s.st_mode & 0777);
    off_t left = s.st_size;
    while (out >= 0 && left > 0) {
        ssize_t n = sendfile(out, in, NULL, (size_t)left);
        if (n <= 0)
            pgo_stop("cannot write %s: %s", to, n ? strerror(errno) : "the file became shorter");
        left -= n;
    }
    if (out < 0 || fchmod(out, s.st_mode & 07777) || close(out))
        pgo_stop("cannot write %s: %s", to, strerror(errno));
    close(in);
}

void pgo_keep(struct pgo_files *files, const char *folder, bool with)
{
    for (size_t i = 0; i < files->n; i++) {
        char **kept = with ? &files->v[i].with : &files->v[i].without;
        if (asprintf(kept, "%s/%zu.%s", folder, i, with ? "with" : "without") < 0)
            pgo_stop("out of memory");
        copy(files->v[i].path, *kept);
    }
}

/* Under another name first, because a program that runs cannot be written to. */
void pgo_place(const struct pgo_files *files, bool with)
{
    char beside[PATH_MAX];
    for (size_t i = 0; i < files->n; i++) {
        const struct pgo_file *f = &files->v[i];
        if (snprintf(beside, sizeof beside, "%s.pgokit", f->path) >= PATH_MAX)
            pgo_stop("the path is too long: %s", f->path);
        copy(with ? f->with : f->without, beside);
        if (rename(beside, f->path))
            pgo_stop("cannot replace %s: %s", f->path, strerror(errno));
    }
}

static bool same_bytes(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    int c = 0, d = 0;
    while (x && y && c == d && c != EOF) {
        c = getc(x);
        d = getc(y);
    }
    if (x)
        fclose(x);
    if (y)
        fclose(y);
    return x && y && c == d;
}

void pgo_check_rebuilt(const struct pgo_files *files, struct timespec since)
{
    bool differs = false;
    struct stat s;
    for (size_t i = 0; i < files->n; i++) {
        const struct pgo_file *f = &files->v[i];
        if (stat(f->path, &s) || !is_newer(&s, since))
            pgo_stop("the second build did not make %s again. Give --clean 'make clean', or a "
                     "build command that builds all",
                     f->path);
        differs |= !same_bytes(f->path, f->without);
    }
    if (!differs)
        pgo_stop("the build with the profile made the same programs as the one without. Does the "
                 "build command use $CC and $CFLAGS, or a compiler that PATH has?");
}

void pgo_files_free(struct pgo_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->v[i].path);
        free(files->v[i].with);
        free(files->v[i].without);
    }
    free(files->v);
    *files = (struct pgo_files){0};
}
