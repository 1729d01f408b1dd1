/* The profiles and programs below the folders of pgokit mcp. */
#include "cli.h"
#include "mcp_files.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* So that a client who starts the server in a home folder gets an answer. */
enum { LOOKED_AT_MAX = 20000 };

struct listing {
    size_t looked_at, shown;
    bool is_cut;
};

/* ELF: programs and shared libraries, but neither objects of a build nor core files. */
static bool is_program(const char *path)
{
    enum { TYPE_AT = 16, EXECUTABLE = 2, SHARED = 3 };
    unsigned char head[TYPE_AT + 2] = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
    if (fd >= 0)
        close(fd);
    return n == sizeof head && (head[TYPE_AT] == EXECUTABLE || head[TYPE_AT] == SHARED) &&
           !head[TYPE_AT + 1];
}

/* "./" is not shown; "-" alone would be standard input, where a file is opened. */
static const char *shown_path(const FTSENT *e, char *text, size_t size)
{
    return pgk_human_text(text, size, e->fts_path + (strncmp(e->fts_path, "./", 2) ? 0 : 2));
}

static void show_file(struct listing *l, const FTSENT *e)
{
    struct pgk_file *file = NULL;
    struct tm utc;
    char text[160], safe[4096], when[40] = "";
    if (!strcmp(e->fts_name, "history.sqlite")) {
        printf("%s: history of profiles, in its folder\n", shown_path(e, safe, sizeof safe));
        l->shown++;
        return;
    }
    if (pgk_file_open(&file, e->fts_path, NULL))
        return;
    const struct pgk_format *format = pgk_file_info_format(pgk_file_info(file));
    const bool is_binary = format->kind == PGK_KIND_BINARY;
    if (!is_binary || is_program(e->fts_path)) {
        if (gmtime_r(&e->fts_statp->st_mtime, &utc))
            strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &utc);
        printf("%s: %s, %s, of %s\n", shown_path(e, safe, sizeof safe),
               is_binary ? "program or library"
                         : pgk_file_info_text(pgk_file_info(file), text, sizeof text),
               pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)e->fts_statp->st_size), when);
        l->shown++;
    }
    pgk_file_close(&file);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Links are not followed, and hidden folders are not looked into: they hold what build systems and
 * tools keep. */
static bool list_folder(struct listing *l, char *folder)
{
    char *roots[] = {folder, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    if (!walk)
        return false;
    for (FTSENT *e; !l->is_cut && (e = fts_read(walk));) {
        if (e->fts_level > 0 && *e->fts_name == '.') {
            fts_set(walk, e, FTS_SKIP);
        } else if (e->fts_info == FTS_F) {
            l->is_cut = ++l->looked_at > LOOKED_AT_MAX;
            show_file(l, e);
        }
    }
    fts_close(walk);
    return true;
}

int mcp_list(const struct mcp_folders *folders, const char *folder)
{
    struct listing l = {0};
    char *one = folder ? strdup(folder) : NULL;
    bool ok = !folder || one;
    if (one)
        ok = list_folder(&l, one);
    for (size_t i = 0; ok && !folder && i < folders->n; i++)
        ok = list_folder(&l, folders->n == 1 ? (char[]){"."} : folders->v[i].path);
    free(one);
    if (!ok) {
        fprintf(stderr, "pgokit: the folder cannot be read: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    if (l.is_cut)
        printf("More than %d files were found, the rest is not listed: name a folder.\n",
               LOOKED_AT_MAX);
    else if (!l.shown)
        printf("No profile and no program is among the %zu files here.\n", l.looked_at);
    return cli_finish_output(EXIT_DONE);
}
