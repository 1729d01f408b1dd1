/* The files that came of a run: what a file name template matches, before and after. */
#include "record.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static _Noreturn void out_of_memory(void)
{
    fputs("pgokit: out of memory\n", stderr);
    exit(EXIT_RECORD_FAILED);
}

static void put(char *pattern, size_t *n, const char *text, bool literal)
{
    for (; *text; text++) {
        if (literal && strchr("*?[]\\", *text))
            pattern[(*n)++] = '\\';
        pattern[(*n)++] = *text;
    }
}

/* A pattern of glob(3) for the names that the runtime makes of the template. */
static char *pattern_of(const char *template)
{
    struct utsname host;
    static const char *const number = "[0-9]*";
    char one[3] = {0};
    if (uname(&host))
        strcpy(host.nodename, "localhost");
    char *pattern = malloc((strlen(template) + 1) * 2 * sizeof host.nodename);
    if (!pattern)
        out_of_memory();
    size_t n = 0;
    for (const char *s = template; *s; s++) {
        one[0] = *s;
        one[1] = 0;
        if (*s != '%' || !s[1]) {
            put(pattern, &n, one, true);
            continue;
        }
        switch (*++s) {
        case 'p':
        case 't':
            put(pattern, &n, number, false);
            break;
        case 'h':
            put(pattern, &n, host.nodename, true);
            break;
        case 'e':
            put(pattern, &n, "*", false);
            break;
        case '%':
            put(pattern, &n, "%", true);
            break;
        default:
            one[1] = *s;
            put(pattern, &n, one, true);
        }
    }
    pattern[n] = 0;
    return pattern;
}

/* A file that is being made has this name until it is complete enough to be read. */
static bool is_part(const char *path)
{
    size_t n = strlen(path);
    return n > 5 && !strcmp(path + n - 5, ".part");
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct record_file *)a)->path, ((const struct record_file *)b)->path);
}

static void add(struct record_files *files, const char *path)
{
    struct stat s;
    if (is_part(path) || stat(path, &s) || !S_ISREG(s.st_mode))
        return;
    struct record_file *grown = realloc(files->v, (files->n + 1) * sizeof *grown);
    char *copy = strdup(path);
    if (!grown || !copy)
        out_of_memory();
    files->v = grown;
    files->v[files->n++] =
        (struct record_file){.path = copy,
                             .device = s.st_dev,
                             .inode = s.st_ino,
                             .changed_ns = s.st_mtim.tv_sec * 1000000000LL + s.st_mtim.tv_nsec};
}

/* Everything the template matches, sorted, each file once. */
static struct record_files list(const char *template)
{
    struct record_files files = {0};
    glob_t found = {0};
    char *pattern = pattern_of(template);
    size_t n = strlen(pattern);
    /* A second program of a process is NAME.2, a child where %p is missing NAME.PID. */
    char *longer = malloc(n + sizeof ".[0-9]*");
    if (!longer)
        out_of_memory();
    memcpy(longer, pattern, n);
    memcpy(longer + n, ".[0-9]*", sizeof ".[0-9]*");
    if (glob(pattern, 0, NULL, &found) == GLOB_NOSPACE ||
        glob(longer, GLOB_APPEND, NULL, &found) == GLOB_NOSPACE)
        out_of_memory();
    for (size_t i = 0; i < found.gl_pathc; i++)
        add(&files, found.gl_pathv[i]);
    globfree(&found);
    free(pattern);
    free(longer);
    if (files.n)
        qsort(files.v, files.n, sizeof *files.v, by_path);
    size_t kept = 0;
    for (size_t i = 0; i < files.n; i++) {
        if (kept && !by_path(&files.v[kept - 1], &files.v[i]))
            free(files.v[i].path);
        else
            files.v[kept++] = files.v[i];
    }
    files.n = kept;
    return files;
}

void record_files_before(struct record_files *files, const char *template)
{
    *files = list(template);
}

static bool is_unchanged(const struct record_files *before, const struct record_file *file)
{
    const struct record_file *old =
        before->n ? bsearch(file, before->v, before->n, sizeof *file, by_path) : NULL;
    return old && old->device == file->device && old->inode == file->inode &&
           old->changed_ns == file->changed_ns;
}

void record_files_after(struct record_files *files, const char *template)
{
    struct record_files now = list(template);
    size_t kept = 0;
    for (size_t i = 0; i < now.n; i++) {
        if (is_unchanged(files, &now.v[i]))
            free(now.v[i].path);
        else
            now.v[kept++] = now.v[i];
    }
    now.n = kept;
    record_files_free(files);
    *files = now;
}

void record_files_free(struct record_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->v[i].path);
    free(files->v);
    *files = (struct record_files){0};
}

void record_drop_former(const char *path)
{
    struct stat s;
    char safe[512];
    if (!lstat(path, &s) && S_ISREG(s.st_mode) && !unlink(path))
        fprintf(stderr, "pgokit: warning: %s of a former run was removed\n",
                pgk_human_text(safe, sizeof safe, path));
}
