/* The newest recording in the current folder, for verbs that were given no file. */
#include "newest_recording.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOKED_AT = 1000 }; /* of the newest files */

struct candidate {
    char *name;
    struct timespec changed;
};

struct candidates {
    struct candidate *v;
    size_t n;
};

/* The path of a file in a folder, to be freed. */
static char *path_in(const char *folder, const char *name)
{
    char *path;
    if (!strcmp(folder, "."))
        return strdup(name);
    const size_t n = strlen(folder);
    return asprintf(&path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name) < 0
               ? NULL : path;
}

static void add(struct candidates *all, const char *folder, const char *file)
{
    struct stat st;
    char *name = path_in(folder, file);
    if (!name || stat(name, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
        free(name);
        return;
    }
    struct candidate *grown = realloc(all->v, (all->n + 1) * sizeof *grown);
    if (!grown) {
        free(name);
        return;
    }
    all->v = grown;
    all->v[all->n++] = (struct candidate){name, st.st_mtim};
}

static int newest_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->changed.tv_sec != y->changed.tv_sec)
        return x->changed.tv_sec > y->changed.tv_sec ? -1 : 1;
    if (x->changed.tv_nsec != y->changed.tv_nsec)
        return x->changed.tv_nsec > y->changed.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* What programs themselves leave, not what was made of it. */
static bool is_recording(const char *name)
{
    static const char *const formats[] = {"raw heap profile", "heaptrack file", "raw counters"};
    struct pgk_file *file;
    bool is = false;
    if (pgk_file_open(&file, name, NULL))
        return false;
    const char *format = pgk_file_info_format(pgk_file_info(file))->name;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        is |= !strcmp(format, formats[i]);
    pgk_file_close(&file);
    return is;
}

char *newest_recording(const char *folder)
{
    struct candidates all = {0};
    char *found = NULL;
    DIR *here = opendir(folder);
    for (struct dirent *e; here && (e = readdir(here)) != NULL;)
        add(&all, folder, e->d_name);
    if (here)
        closedir(here);
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, newest_first);
    for (size_t i = 0; i < all.n; i++) {
        if (!found && i < LOOKED_AT && is_recording(all.v[i].name))
            found = all.v[i].name;
        else
            free(all.v[i].name);
    }
    free(all.v);
    return found;
}
