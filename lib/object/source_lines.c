/* Lines of source files. */
#include "source_lines.h"

#include "compiler.h"
#include "filemap.h"
#include "hash.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILE (8 << 20) /* bytes; no one reads a larger source in a report */

struct pgk_source_file {
    char *name; /* as asked for */
    struct pgk_filemap map;
    PGK_VEC(uint32_t) starts; /* of lines; empty: no such file */
};

static void file_free(struct pgk_source_file *f)
{
    pgk_filemap_close(&f->map);
    pgk_vec_free(&f->starts);
    pgk_mem_free(f->name);
    pgk_mem_free(f);
}

void pgk_source_lines_free(struct pgk_source_lines *s)
{
    for (size_t i = 0; i < s->files.n; i++)
        file_free(s->files.v[i]);
    pgk_vec_free(&s->files);
    pgk_index_free(&s->index);
}

static bool is_source_name(const char *name)
{
    static const char *const ends[] = {".c",   ".h",   ".cc",  ".hh",  ".cpp", ".hpp", ".cxx",
                                       ".hxx", ".c++", ".h++", ".inl", ".inc", ".ipp", ".tcc",
                                       ".tpp", ".def", ".rs",  ".C",   ".H",   ".f90", ".zig"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < PGK_COUNTOF(ends); i++)
        if (!strcmp(dot, ends[i]))
            return true;
    return false;
}

static bool open_at(struct pgk_source_file *f, const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= MAX_FILE &&
           !pgk_filemap_open(&f->map, path, NULL);
}

static bool open_below(struct pgk_source_file *f, const char *folder, const char *name)
{
    char path[PATH_MAX];
    for (const char *rest = name; rest; rest = strchr(rest, '/')) {
        rest += strspn(rest, "/");
        if (snprintf(path, sizeof path, "%s/%s", folder, rest) < (int)sizeof path &&
            open_at(f, path))
            return true;
    }
    return false;
}

static bool find_starts(struct pgk_source_file *f)
{
    const uint8_t *bytes = f->map.bytes;
    size_t at = 0;
    while (at < f->map.size) {
        if (!pgk_vec_push(&f->starts, (uint32_t)at))
            return false;
        const uint8_t *end = memchr(bytes + at, '\n', f->map.size - at);
        at = end ? (size_t)(end - bytes) + 1 : f->map.size;
    }
    return true;
}

static bool load(struct pgk_source_lines *s, struct pgk_source_file *f)
{
    bool found = is_source_name(f->name) && open_at(f, f->name);
    for (size_t i = 0; is_source_name(f->name) && i < s->n_folders && !found; i++)
        found = open_below(f, s->folders[i], f->name);
    return !found || find_starts(f);
}

int pgk_source_find(struct pgk_source_lines *s, const char *name,
                    const struct pgk_source_file **file, struct pgk_err *err)
{
    struct pgk_source_file *f = NULL;
    uint64_t hash = pgk_hash_bytes(name, strlen(name));
    PGK_INDEX_FOR (&s->index, hash, i)
        if (!strcmp(s->files.v[i]->name, name))
            f = s->files.v[i];
    if (!f) {
        f = pgk_mem_zalloc(1, sizeof *f);
        if (!f)
            return pgk_fail_nomem(err);
        f->name = pgk_mem_strdup(name);
        if (!f->name || !load(s, f) || !pgk_vec_reserve(&s->files, 1) ||
            !pgk_index_add(&s->index, hash, (uint32_t)s->files.n)) {
            file_free(f);
            return pgk_fail_nomem(err);
        }
        s->files.v[s->files.n++] = f;
    }
    *file = f->starts.n ? f : NULL;
    return 0;
}

const char *pgk_source_line(const struct pgk_source_file *f, uint32_t line, size_t *len)
{
    if (!line || line > f->starts.n)
        return NULL;
    size_t start = f->starts.v[line - 1],
           end = line < f->starts.n ? f->starts.v[line] : f->map.size;
    while (end > start && (f->map.bytes[end - 1] == '\n' || f->map.bytes[end - 1] == '\r'))
        end--;
    *len = end - start;
    return (const char *)f->map.bytes + start;
}
