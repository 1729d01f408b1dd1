/* Which files a client of pgokit mcp may name: those below the folders that the server was started
 * with, without a symbolic link or ".." on the way. */
#include "mcp_files.h"

#include "pgokit/human.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool mcp_folders_add(struct mcp_folders *folders, const char *path)
{
    char safe[256];
    struct mcp_folder *grown = realloc(folders->v, (folders->n + 1) * sizeof *grown);
    if (!grown) {
        fputs("pgokit: out of memory\n", stderr);
        return false;
    }
    folders->v = grown;
    struct mcp_folder *f = &grown[folders->n];
    f->path = realpath(path, NULL);
    f->fd = f->path ? open(f->path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (f->fd < 0) {
        fprintf(stderr, "pgokit: %s: cannot be opened as a folder: %s\n",
                pgk_human_text(safe, sizeof safe, path), strerror(errno));
        free(f->path);
        return false;
    }
    folders->n++;
    return true;
}

void mcp_folders_free(struct mcp_folders *folders)
{
    for (size_t i = 0; i < folders->n; i++) {
        close(folders->v[i].fd);
        free(folders->v[i].path);
    }
    free(folders->v);
    *folders = (struct mcp_folders){0};
}

/* The end of an absolute name below the folder; NULL if it is not there. */
static const char *below(const struct mcp_folder *f, const char *name)
{
    const size_t n = strcmp(f->path, "/") ? strlen(f->path) : 0;
    return !strncmp(name, f->path, n) && (name[n] == '/' || !name[n]) ? name + n : NULL;
}

/* Goes from folder to folder, so that nothing of the way can be exchanged between two looks at it.
 * Writes the way without "." and empty parts to `plain`. NULL, or why it does not lead to a file or
 * folder. */
static const char *walk(int folder, const char *name, char *plain)
{
    struct stat st = {.st_mode = S_IFDIR};
    int at = folder;
    const char *why = NULL;
    for (size_t n; !why && *(name += strspn(name, "/")); name += n) {
        char part[NAME_MAX + 1];
        n = strcspn(name, "/");
        if (n > NAME_MAX) {
            why = "a name on the way is too long";
            break;
        }
        snprintf(part, sizeof part, "%.*s", (int)n, name);
        if (!strcmp(part, "."))
            continue;
        const int next =
            strcmp(part, "..") ? openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (!strcmp(part, ".."))
            why = "\"..\" leads out of folders and is not followed";
        else if (next < 0 || fstat(next, &st))
            why = strerror(errno);
        else if (S_ISLNK(st.st_mode))
            why = "a symbolic link is on the way, which is not followed";
        if (at != folder)
            close(at);
        at = next;
        sprintf(plain + strlen(plain), "%s%s", *plain ? "/" : "", part);
    }
    if (at != folder && at >= 0)
        close(at);
    return why                                          ? why
           : S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? NULL
                                                        : "no regular file and no folder";
}

/* Verbs run in the folder if there is only one, so that names in answers are short. "-" alone
 * would be standard input. */
static char *as_given(const struct mcp_folders *folders, const struct mcp_folder *f,
                      const char *plain)
{
    char *path = NULL;
    const bool is_one = folders->n == 1;
    const int n = asprintf(&path, "%s%s%s", is_one ? (strcmp(plain, "-") ? "" : ".") : f->path,
                           *plain && (!is_one || !strcmp(plain, "-")) ? "/" : "",
                           *plain   ? plain
                           : is_one ? "."
                                    : "");
    return n < 0 ? NULL : path;
}

char *mcp_folders_path(void *ctx, const char *name, char *why, size_t size)
{
    const struct mcp_folders *folders = ctx;
    const char *refused = NULL;
    char safe[256];
    snprintf(why, size, "out of memory");
    if (strlen(name) >= PATH_MAX) {
        snprintf(why, size, "a path has fewer than %d bytes", PATH_MAX);
        return NULL;
    }
    for (size_t i = 0; i < folders->n; i++) {
        char plain[2 * PATH_MAX] = "";
        const struct mcp_folder *f = &folders->v[i];
        const char *end = *name == '/' ? below(f, name) : name;
        if (!end || !*name)
            continue;
        refused = walk(f->fd, end, plain);
        if (!refused)
            return as_given(folders, f, plain);
    }
    snprintf(why, size, "%s: %s; list_profiles lists what there is",
             pgk_human_text(safe, sizeof safe, name),
             refused ? refused : "not below a folder that pgokit mcp was started with");
    return NULL;
}
