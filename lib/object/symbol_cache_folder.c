/* The folder of a symbol cache: making it and keeping it small. Other processes may do
 * the same at the same time, so that anything may be gone at any moment. */
#include "symbol_cache_priv.h"

#include "arena.h"
#include "path.h"
#include "vec.h"
#include "pgokit/binaries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    char *name;
    uint64_t size;
    struct timespec used;
};
typedef PGK_VEC(struct entry) entry_vec;

/* The folder of a path, without the slash; false if it has none. */
static bool folder_of(char folder[PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path || slash - path >= PATH_MAX)
        return false;
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    return true;
}

bool pgk_symbol_cache_make_folder(const char *entry)
{
    char folder[PATH_MAX];
    if (!folder_of(folder, entry))
        return false;
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(folder, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return mkdir(folder, 0700) == 0 || errno == EEXIST;
}

/* Also what is left of an entry whose writer was killed. */
static bool is_entry(const char *name)
{
    return strstr(name, PGK_SYMBOL_CACHE_SUFFIX) != NULL;
}

static int compare_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* All entries; returns the bytes they have together. */
static uint64_t list(DIR *dir, entry_vec *entries, struct pgk_arena *names)
{
    uint64_t total = 0;
    for (const struct dirent *d; (d = readdir(dir));) {
        struct stat st;
        if (!is_entry(d->d_name) || fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(st.st_mode))
            continue;
        struct entry e = {pgk_arena_copy(names, d->d_name, strlen(d->d_name)),
                          (uint64_t)st.st_size, st.st_mtim};
        if (!e.name || !pgk_vec_push(entries, e))
            break;
        total += e.size;
    }
    return total;
}

void pgk_symbol_cache_keep_below(const char *entry, uint64_t bytes)
{
    char folder[PATH_MAX];
    entry_vec entries = {0};
    struct pgk_arena names = {0};
    DIR *dir = folder_of(folder, entry) ? opendir(folder) : NULL;
    if (!dir)
        return;
    uint64_t total = list(dir, &entries, &names);
    if (entries.n)
        qsort(entries.v, entries.n, sizeof *entries.v, compare_use);
    const char *own = pgk_base_name(entry);
    for (size_t i = 0; i < entries.n && total > bytes; i++) {
        if (!strcmp(entries.v[i].name, own))
            continue;
        (void)unlinkat(dirfd(dir), entries.v[i].name, 0);
        total -= entries.v[i].size;
    }
    closedir(dir);
    pgk_vec_free(&entries);
    pgk_arena_free(&names);
}

const char *pgk_binaries_cache_folder(char *buf, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    /* Other than absolute paths are to be ignored, the specification says. */
    if (cache && cache[0] == '/')
        n = snprintf(buf, size, "%s/pgokit", cache);
    else if (home && home[0] == '/')
        n = snprintf(buf, size, "%s/.cache/pgokit", home);
    return n > 0 && (size_t)n < size ? buf : NULL;
}
