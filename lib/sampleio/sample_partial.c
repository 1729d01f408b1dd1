/* Partial sample profiles: a text with a head for what texts cannot say, and with the profiles of
 * every checksum. docs/formats/sample-text.md "Partial profiles" */
#include "sample_partial.h"

#include "sample_origin.h"
#include "sample_text.h"
#include "sample_spelling.h"

#include <stddef.h>
#include <stdlib.h>

static const struct {
    const char *name;
    size_t off; /* of a bool in struct pgk_sample */
} marks[] = {
    {"contexts", offsetof(struct pgk_sample, kind.contexts)},
    {"probes", offsetof(struct pgk_sample, kind.probes)},
    {"preinlined", offsetof(struct pgk_sample, preinlined)},
    {"flow", offsetof(struct pgk_sample, fs)},
    {"shared", offsetof(struct pgk_sample, partial)},
    {"symbols", offsetof(struct pgk_sample, has_symbols)},
};

static bool *mark_of(struct pgk_sample *p, size_t i)
{
    return (bool *)((char *)p + marks[i].off);
}

bool pgk_sample_is_partial(const char *s, const char *end)
{
    const size_t n = strlen(PGK_SAMPLE_PARTIAL_HEAD);
    return (size_t)(end - s) > n && !memcmp(s, PGK_SAMPLE_PARTIAL_HEAD, n) && s[n] == '\n';
}

bool pgk_sample_partial_mark(struct pgk_sample *p, struct pgk_sample_kind *kind, const char *s,
                             size_t len)
{
    for (size_t i = 0; i < PGK_COUNTOF(marks); i++) {
        if (strlen(marks[i].name) != len || memcmp(marks[i].name, s, len))
            continue;
        /* Earlier files may have set the kind; it must be the same. */
        if (i == 0)
            kind->contexts = true;
        else if (i == 1)
            kind->probes = true;
        else
            *mark_of(p, i) = true;
        kind->known |= kind->contexts || kind->probes;
        return true;
    }
    return false;
}

static void put_str(struct pgk_line *l, const char *s)
{
    pgk_line_bytes(l, s, strlen(s));
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool put_symbols(const struct pgk_sample *p, struct pgk_line *l)
{
    size_t n = p->symbols && p->symbols->strs.n ? p->symbols->strs.n - 1 : 0;
    const char **sorted = pgk_mem_alloc(n, sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = p->symbols->strs.v[i + 1].s;
    qsort(sorted, n, sizeof *sorted, compare_strings);
    put_str(l, "symbols: ");
    pgk_line_decimal(l, n);
    pgk_line_byte(l, '\n');
    for (size_t i = 0; i < n; i++) {
        put_str(l, sorted[i]);
        pgk_line_byte(l, '\n');
    }
    pgk_mem_free(sorted);
    return !l->failed;
}

/* Two lines for each function: its name; when it ran first, and "=FILE", "*" for several files, or
 * nothing. */
static void put_origin(const struct pgk_sample *p, uint32_t name, struct pgk_line *l)
{
    struct pgk_sample_origin o = pgk_sample_origin(p, name);
    const char *file = pgk_sample_file(p, name);
    pgk_put_spelling(l, &p->names.list.v[name]);
    pgk_line_byte(l, '\n');
    pgk_line_decimal(l, o.first_run);
    put_str(l, *file ? " =" : o.file ? " *" : " ");
    put_str(l, file);
    pgk_line_byte(l, '\n');
}

static bool put_origins(const struct pgk_sample *p, struct pgk_line *l)
{
    size_t n_names = p->names.list.n, n = 0;
    for (uint32_t id = 1; id < n_names; id++)
        n += pgk_sample_has_origin(p, id);
    if (!n)
        return true;
    uint32_t *by_rank = pgk_mem_alloc(n_names, sizeof *by_rank);
    if (!by_rank)
        return false;
    for (uint32_t id = 1; id < n_names; id++)
        by_rank[p->rank.v[id]] = id;
    put_str(l, PGK_SAMPLE_PARTIAL_ORIGINS);
    pgk_line_decimal(l, n);
    pgk_line_byte(l, '\n');
    for (size_t rank = 1; rank < n_names; rank++)
        if (pgk_sample_has_origin(p, by_rank[rank]))
            put_origin(p, by_rank[rank], l);
    pgk_mem_free(by_rank);
    return true;
}

bool pgk_sample_partial_origin(const char *s, const char *end, uint64_t *first_run,
                               const char **file)
{
    const char *blank = memchr(s, ' ', (size_t)(end - s));
    if (!blank || blank == s)
        return false;
    *first_run = 0;
    for (; s < blank; s++)
        if (*s < '0' || *s > '9' ||
            __builtin_mul_overflow(*first_run, (uint64_t)10, first_run) ||
            __builtin_add_overflow(*first_run, (uint64_t)(*s - '0'), first_run))
            return false;
    *file = blank + 1;
    return *file == end || **file == '=' || (**file == '*' && *file + 1 == end);
}

static int put_head(struct pgk_sample *p, struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_line l = {0};
    put_str(&l, PGK_SAMPLE_PARTIAL_HEAD "\nmarks:");
    for (size_t i = 0; i < PGK_COUNTOF(marks); i++) {
        if (*mark_of(p, i)) {
            pgk_line_byte(&l, ' ');
            put_str(&l, marks[i].name);
        }
    }
    pgk_line_byte(&l, '\n');
    bool ok = put_symbols(p, &l) && put_origins(p, &l);
    pgk_line_flush(&l, out, 1);
    pgk_line_free(&l);
    return ok ? 0 : pgk_fail_nomem(err);
}

int pgk_sample_partial_write(struct pgk_sample *p, struct pgk_sink *out, struct pgk_err *err)
{
    PGK_TRY(pgk_sample_finish_variants(p, err));
    PGK_TRY(put_head(p, out, err));
    return pgk_sample_text_write(p, p->by_heat.n, false, true, out, err);
}

int pgk_sample_write_partial(struct pgk_sample *profile, const char *path, struct pgk_err *err)
{
    struct pgk_sink *out = NULL;
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = pgk_sample_partial_write(profile, out, err);
    if (!status)
        status = pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}
