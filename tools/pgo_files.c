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

/* By the time that no program can set, as a build may copy a file with its dates. */
static bool is_newer(const struct stat *s, struct timespec since)
{
    return s->st_ctim.tv_sec > since.tv_sec ||
           (s->st_ctim.tv_sec == since.tv_sec && s->st_ctim.tv_nsec >= since.tv_nsec);
}

/* Reads little, as it is asked of all files. False if the file is shorter. */
enum { HEAD = 18 };
static bool read_head(const char *path, unsigned char *head)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    const bool read_all = fd >= 0 && read(fd, head, HEAD) == HEAD;
    if (fd >= 0)
        close(fd);
    return read_all;
}

static bool is_elf(const unsigned char *head)
{
    return !memcmp(head, "\177ELF", 4);
}

/* Programs and libraries, not objects. */
static bool looks_linked(const char *path)
{
    unsigned char head[HEAD];
    return read_head(path, head) && is_elf(head) && (head[16] == 2 || head[16] == 3);
}

/* Objects, also those of link-time optimisation, archives, what is linked, and libtool's texts that
 * stand for them. */
static bool looks_compiled(const char *path)
{
    unsigned char head[HEAD];
    const char *end = strrchr(path, '.');
    if (end && (!strcmp(end, ".lo") || !strcmp(end, ".la")))
        return true;
    return read_head(path, head) &&
           (is_elf(head) || !memcmp(head, "!<arch>\n", 8) || !memcmp(head, "BC\xc0\xde", 4));
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

/* A copy in a folder of our own, which TMPDIR may have below the current one. */
static bool is_scratch(const char *path)
{
    return strstr(path, "/" PGO_SCRATCH) != NULL;
}

static int look_at(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)at;
    if (kind == FTW_F && S_ISREG(s->st_mode) && is_newer(s, search.since) && !is_scratch(path) &&
        looks_linked(path) && is_linked(path))
        add(search.files, path);
    return 0;
}

static int remove_made(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)at;
    if (kind == FTW_F && S_ISREG(s->st_mode) && is_newer(s, search.since) && !is_scratch(path) &&
        looks_compiled(path) && unlink(path))
        pgo_stop("cannot remove %s: %s", path, strerror(errno));
    return 0;
}

static void visit_below(const char *folder, __nftw_func_t visit)
{
    if (nftw(folder, visit, OPEN_FOLDERS, FTW_PHYS | FTW_MOUNT))
        pgo_stop("cannot read %s: %s", folder, strerror(errno));
}

/* The current folder, and that of cargo where a workspace has it elsewhere. */
static void visit_all(__nftw_func_t visit)
{
    const char *other = pgo_target_folder();
    visit_below(".", visit);
    if (*other && !access(other, F_OK))
        visit_below(other, visit);
}

static void search_all(struct pgo_files *files, struct timespec since)
{
    search.files = files;
    search.since = since;
    visit_all(look_at);
}

void pgo_remove_made(struct timespec since)
{
    search.since = since;
    visit_all(remove_made);
}

bool pgo_look_for_files(struct pgo_files *files, const struct cli_list *chosen,
                        struct timespec since)
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
        return true;
    search_all(files, since);
    return files->n > 0;
}

void pgo_find_files(struct pgo_files *files, const struct cli_list *chosen, struct timespec since)
{
    if (!pgo_look_for_files(files, chosen, since))
        pgo_stop("the build made no program below the current folder. If an earlier build has made "
                 "it, remove it before each build by --clean 'make clean'. If the build makes it "
                 "elsewhere, name it with -b");
}

static bool copy_bytes(int in, int out, off_t left)
{
    while (left > 0) {
        ssize_t n = sendfile(out, in, NULL, (size_t)left);
        if (n <= 0) {
            errno = n ? errno : EIO; /* the file became shorter */
            return false;
        }
        left -= n;
    }
    return true;
}

/* `all`: with its owner, as far as we may, and its dates. False with errno; then there is none. */
static bool try_copy(const char *from, const char *to, bool all)
{
    struct stat s;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 || fstat(in, &s) ? -1
                                      : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = out >= 0 && copy_bytes(in, out, s.st_size);
    if (ok && all && fchown(out, s.st_uid, s.st_gid))
        errno = 0; /* it is ours then */
    ok = ok && !fchmod(out, s.st_mode & 07777) &&
         !(all && futimens(out, (struct timespec[]){s.st_atim, s.st_mtim}));
    if (out >= 0 && close(out))
        ok = false;
    int why = errno;
    if (out >= 0 && !ok)
        unlink(to);
    if (in >= 0)
        close(in);
    errno = why;
    return ok;
}

static void copy(const char *from, const char *to, bool all)
{
    if (!try_copy(from, to, all))
        pgo_stop("cannot copy %s to %s: %s", from, to, strerror(errno));
}

/* Under another name first, because a program that runs cannot be written to. */
bool pgo_replace(const char *from, const char *path, bool all)
{
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.pgokit", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!try_copy(from, beside, all))
        return false;
    if (!rename(beside, path))
        return true;
    int why = errno;
    unlink(beside);
    errno = why;
    return false;
}

/* A name of its own for the copy, which stays when another build takes its place. */
static void undo_by(const char *kept, const char *path)
{
    char plain[PATH_MAX];
    snprintf(plain, sizeof plain, "%.*splain", (int)(strrchr(kept, '.') + 1 - kept), kept);
    if (link(kept, plain) && errno != EEXIST)
        pgo_stop("cannot make %s: %s", plain, strerror(errno));
    pgo_undo(plain, path);
}

void pgo_keep(struct pgo_files *files, const char *folder, bool with)
{
    for (size_t i = 0; i < files->n; i++) {
        char **kept = with ? &files->v[i].with : &files->v[i].without;
        free(*kept);
        if (asprintf(kept, "%s/%zu.%s", folder, i, with ? "with" : "without") < 0)
            pgo_stop("out of memory");
        copy(files->v[i].path, *kept, false);
        if (!with)
            undo_by(*kept, files->v[i].path);
    }
}

void pgo_keep_former(const struct cli_list *chosen, const char *folder)
{
    struct pgo_files former = {0};
    char kept[PATH_MAX + 32];
    for (size_t i = 0; i < chosen->n; i++)
        if (looks_linked(chosen->v[i]))
            add(&former, chosen->v[i]);
    search_all(&former, (struct timespec){0});
    for (size_t i = 0; i < former.n; i++) {
        snprintf(kept, sizeof kept, "%s/former.%zu.former", folder, i);
        copy(former.v[i].path, kept, true);
        pgo_undo(kept, former.v[i].path);
    }
    pgo_files_free(&former);
}

void pgo_place(const struct pgo_files *files, bool with)
{
    for (size_t i = 0; i < files->n; i++) {
        const struct pgo_file *f = &files->v[i];
        if (!pgo_replace(with ? f->with : f->without, f->path, false))
            pgo_stop("cannot replace %s: %s", f->path, strerror(errno));
    }
}

bool pgo_same_bytes(const char *a, const char *b)
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

bool pgo_differs(const struct pgo_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (!pgo_same_bytes(files->v[i].path, files->v[i].without))
            return true;
    return false;
}

void pgo_promote(struct pgo_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (rename(files->v[i].with, files->v[i].without))
            pgo_stop("cannot replace %s: %s", files->v[i].without, strerror(errno));
}

uint64_t pgo_code_bytes(const struct pgo_files *files)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < files->n; i++) {
        struct pgk_program p = {.struct_size = sizeof p};
        if (pgk_program_inspect(&p, files->v[i].path, NULL))
            return 0;
        bytes += p.code_bytes;
    }
    return bytes;
}

static const char *not_made_again(const struct pgo_files *files, struct timespec since)
{
    struct stat s;
    for (size_t i = 0; i < files->n; i++)
        if (stat(files->v[i].path, &s) || !is_newer(&s, since))
            return files->v[i].path;
    return NULL;
}

bool pgo_was_rebuilt(const struct pgo_files *files, struct timespec since)
{
    return !not_made_again(files, since);
}

void pgo_check_rebuilt(const struct pgo_files *files, struct timespec since)
{
    const char *path = not_made_again(files, since);
    if (path)
        pgo_stop("the second build did not make %s again. Give --clean 'make clean', or a build "
                 "command that builds all",
                 path);
    if (!pgo_differs(files))
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
