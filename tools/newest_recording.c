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

/* What a file holds. */
struct content {
    bool is_recording;
    uint64_t start_ms; /* of the process, in ms since 1970; 0: not known */
    uint64_t bytes;    /* allocated */
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

/* When the process started, and what it allocated. A damaged file may be the newest recording, too:
 * the verb says what is wrong with it. */
static void read_heap(struct content *content, struct pgk_file *file)
{
    struct pgk_heap_recording recording = {.struct_size = sizeof recording};
    struct pgk_heap *heap;
    if (pgk_heap_new(&heap, NULL))
        return;
    if (!pgk_heap_read_file(heap, file, 1, NULL)) {
        if (pgk_heap_recording(heap, &recording))
            content->start_ms = recording.start_ms;
        for (size_t i = 0; i < pgk_heap_contexts(heap); i++)
            content->bytes += pgk_heap_value(heap, i, PGK_MIB_TotalSize);
    }
    pgk_heap_close(&heap);
}

/* What programs themselves leave, not what was made of it. */
static struct content look_into(const char *name)
{
    static const char *const formats[] = {"raw heap profile", "heaptrack file", "raw counters"};
    struct content content = {0};
    struct pgk_file *file;
    if (pgk_file_open(&file, name, NULL))
        return content;
    const char *format = pgk_file_info_format(pgk_file_info(file))->name;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        content.is_recording |= !strcmp(format, formats[i]);
    if (!strcmp(format, formats[0]))
        read_heap(&content, file);
    pgk_file_close(&file);
    return content;
}

static uint64_t ms_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000 + (uint64_t)time->tv_nsec / 1000000;
}

/* Of equal ones the first by name, as record heap has them. */
static bool is_larger(const struct candidate *a, uint64_t a_bytes, const struct candidate *b,
                      uint64_t b_bytes)
{
    return a_bytes > b_bytes || (a_bytes == b_bytes && strcmp(a->name, b->name) < 0);
}

/* The largest of the newest run, which are processes that ran at the same time: a driver such as
 * gcc ends after the compiler that it starts, and its own profile is of no interest. So a file
 * belongs to the run if it was written after a process of the run had started. The newest
 * recording is one if its start is not known. NULL: there is none. */
static struct candidate *choose(const struct candidates *all, size_t *in_run)
{
    struct candidate *chosen = NULL;
    uint64_t most = 0, since_ms = 0;
    *in_run = 0;
    for (size_t i = 0; i < all->n && i < LOOKED_AT; i++) {
        if (chosen && (!since_ms || ms_of(&all->v[i].changed) < since_ms))
            break;
        const struct content content = look_into(all->v[i].name);
        if (!content.is_recording || (chosen && !content.start_ms))
            continue;
        ++*in_run;
        if (!chosen || is_larger(&all->v[i], content.bytes, chosen, most)) {
            chosen = &all->v[i];
            most = content.bytes;
        }
        if (*in_run == 1 || content.start_ms < since_ms)
            since_ms = content.start_ms;
    }
    return chosen;
}

char *newest_recording(const char *folder, size_t *in_run)
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
    const struct candidate *chosen = choose(&all, in_run);
    for (size_t i = 0; i < all.n; i++) {
        if (&all.v[i] == chosen)
            found = all.v[i].name;
        else
            free(all.v[i].name);
    }
    free(all.v);
    return found;
}
