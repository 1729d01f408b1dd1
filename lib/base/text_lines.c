/* Lists that people write. */
#include "text_lines.h"

#include "filemap.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

int pgk_text_lines(const char *path, pgk_line_fn *fn, void *ctx, struct pgk_err *err)
{
    struct pgk_filemap map;
    PGK_TRY(pgk_filemap_open(&map, path, err));
    const char *s = (const char *)map.bytes, *end = s + map.size;
    int status = 0;
    for (uint64_t number = 1; s < end && !status; number++) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        const char *next = newline ? newline + 1 : end, *stop = newline ? newline : end;
        while (stop > s && (is_blank(stop[-1]) || stop[-1] == '\r'))
            stop--;
        while (s < stop && is_blank(*s))
            s++;
        if (s < stop)
            status = fn(ctx, s, (size_t)(stop - s), number, err);
        s = next;
    }
    pgk_filemap_close(&map);
    return status;
}

struct pairs {
    const char *path;
    pgk_pair_fn *fn;
    void *ctx;
};

static int split(void *ctx, const char *line, size_t len, uint64_t number, struct pgk_err *err)
{
    const struct pairs *p = ctx;
    size_t n_old = 0, gap = 0;
    if (*line == '#')
        return 0;
    while (n_old < len && !is_blank(line[n_old]))
        n_old++;
    while (n_old + gap < len && is_blank(line[n_old + gap]))
        gap++;
    const char *new = line + n_old + gap;
    size_t n_new = len - n_old - gap;
    if (n_new && !memchr(new, ' ', n_new) && !memchr(new, '\t', n_new))
        return p->fn(p->ctx, line, n_old, new, n_new, err);
    return pgk_fail(err, PGK_E_CORRUPT, .file = p->path,
                    .record = PGK_F("line %llu", (unsigned long long)number),
                    .field = "pair of names",
                    .found = PGK_F("'%.*s'", len < 80 ? (int)len : 80, line),
                    .expected = "OLD NEW", .hint = "correct the line");
}

int pgk_text_pairs(const char *path, pgk_pair_fn *fn, void *ctx, struct pgk_err *err)
{
    struct pairs p = {path, fn, ctx};
    return pgk_text_lines(path, split, &p, err);
}
