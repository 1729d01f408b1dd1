/* Partial sample profiles: a text with a head for what texts cannot say, and with the profiles of
 * every checksum. docs/formats/sample-text.md "Partial profiles" */
#include "sample_partial.h"

#include "line_buffer.h"
#include "sample_text.h"

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
        /* What kind it is was perhaps said by the files before it, which must agree. */
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
    bool ok = put_symbols(p, &l);
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
