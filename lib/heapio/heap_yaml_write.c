/* Writer of YAML heap profiles: the very bytes that llvm-profdata 22 prints for records in
 * this order, with the fields that a context knows. The order follows from the content: records by
 * GUID, what is in them by call stack, leaf first. */
#include "heap_yaml.h"

#include "estimate.h"
#include "rekey.h"

#include <inttypes.h>
#include <stdlib.h>

/* Flow lists break the line before an item once a column is passed. */
enum { BREAK_COLUMN = 80 };

struct writer {
    struct pgk_sink *out;
    uint64_t line_start;
};

static void start_line(struct writer *w, unsigned indent)
{
    pgk_sink_printf(w->out, "\n");
    w->line_start = pgk_sink_off(w->out);
    pgk_sink_printf(w->out, "%*s", (int)indent, "");
}

static unsigned column(const struct writer *w)
{
    return (unsigned)(pgk_sink_off(w->out) - w->line_start);
}

/* Before item `i` of a flow list or map whose bracket stands at `bracket`. */
static void separate(struct writer *w, size_t i, unsigned bracket)
{
    pgk_sink_printf(w->out, i ? ", " : " ");
    if (column(w) > BREAK_COLUMN)
        start_line(w, bracket + 2);
}

static void write_frame(struct writer *w, const struct pgk_heap_frame *f, unsigned indent)
{
    start_line(w, indent);
    pgk_sink_printf(w->out, "- ");
    unsigned bracket = column(w);
    pgk_sink_printf(w->out, "{");
    separate(w, 0, bracket);
    pgk_sink_printf(w->out, "Function: 0x%" PRIx64, f->guid);
    separate(w, 1, bracket);
    pgk_sink_printf(w->out, "LineOffset: %" PRIu32, f->line_offset);
    separate(w, 2, bracket);
    pgk_sink_printf(w->out, "Column: %" PRIu32, f->column);
    separate(w, 3, bracket);
    pgk_sink_printf(w->out, "IsInlineFrame: %s }", f->inlined ? "true" : "false");
}

static int write_alloc_site(struct writer *w, const struct pgk_heap *h, size_t context,
                            struct pgk_err *err)
{
    PGK_VEC(struct pgk_heap_frame) frames = {0};
    const struct pgk_mib *m = pgk_heap_mib(h, context, PGK_MIB_SPACE);
    size_t n = pgk_heap_stack(h, context, NULL, 0);
    if (!pgk_vec_reserve(&frames, n + 1))
        return pgk_fail_nomem(err);
    pgk_heap_stack(h, context, frames.v, n);
    start_line(w, 6);
    pgk_sink_printf(w->out, "- Callstack:");
    for (size_t i = 0; i < n; i++)
        write_frame(w, &frames.v[i], 10);
    start_line(w, 8);
    const uint64_t known = pgk_mib_known_without_samples(m) & pgk_mib_llvm_known;
    pgk_sink_printf(w->out,
                    known ? "MemInfoBlock:" : "MemInfoBlock:    {}");
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (known >> id & 1) {
            start_line(w, 10);
            pgk_sink_printf(w->out, "%s:%*s%" PRIu64, pgk_mib_fields[id].name,
                            strlen(pgk_mib_fields[id].name) < 15
                                ? 16 - (int)strlen(pgk_mib_fields[id].name)
                                : 1,
                            "", pgk_mib_llvm_value(m, id));
        }
    pgk_vec_free(&frames);
    return 0;
}

static void write_call_site(struct writer *w, const struct pgk_heap_call_site *c)
{
    start_line(w, 6);
    pgk_sink_printf(w->out, "- Frames:");
    for (size_t i = 0; i < c->n_frames; i++)
        write_frame(w, &c->frames[i], 10);
    if (!c->n_callees)
        return;
    start_line(w, 8);
    pgk_sink_printf(w->out, "CalleeGuids:     ");
    unsigned bracket = column(w);
    pgk_sink_printf(w->out, "[");
    for (size_t i = 0; i < c->n_callees; i++) {
        separate(w, i, bracket);
        pgk_sink_printf(w->out, "0x%" PRIx64, c->callees[i]);
    }
    pgk_sink_printf(w->out, " ]");
}

struct records {
    struct writer w;
    const struct pgk_heap *h;
    struct pgk_err *err;
    bool any;
    PGK_VEC(size_t) allocs; /* of the record, in order */
    PGK_VEC(struct pgk_heap_call_site) calls;
};

static int compare_frames(const struct pgk_heap *h, const struct pgk_frame *a,
                          const struct pgk_frame *b)
{
    uint64_t x = h->funcs.v[a->ref].guid, y = h->funcs.v[b->ref].guid;
    if (x != y)
        return x < y ? -1 : 1;
    if (a->where != b->where)
        return a->where < b->where ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

static int by_stack(const void *a, const void *b, void *ctx)
{
    const struct pgk_heap *h = ctx;
    const struct pgk_stack_node *nodes = h->stacks.nodes.v;
    uint32_t i = h->contexts.v[*(const size_t *)a].stack,
             j = h->contexts.v[*(const size_t *)b].stack;
    for (; i != j && i && j; i = nodes[i].parent, j = nodes[j].parent) {
        int order = nodes[i].frame == nodes[j].frame
                        ? 0
                        : compare_frames(h, &h->frames.v[nodes[i].frame],
                                         &h->frames.v[nodes[j].frame]);
        if (order)
            return order;
    }
    return i == j ? 0 : i ? 1 : -1;
}

/* Sites of calls are inline chains, which have few frames. */
static int by_chain(const void *a, const void *b)
{
    const struct pgk_heap_call_site *x = a, *y = b;
    for (size_t i = 0; i < x->n_frames && i < y->n_frames; i++) {
        const struct pgk_heap_frame *f = &x->frames[i], *g = &y->frames[i];
        if (f->guid != g->guid)
            return f->guid < g->guid ? -1 : 1;
        if (f->line_offset != g->line_offset)
            return f->line_offset < g->line_offset ? -1 : 1;
        if (f->column != g->column)
            return f->column < g->column ? -1 : 1;
        if (f->inlined != g->inlined)
            return f->inlined ? 1 : -1;
    }
    return x->n_frames < y->n_frames ? -1 : x->n_frames > y->n_frames;
}

static bool sort_record(struct records *r, const struct pgk_heap_record *record)
{
    r->allocs.n = r->calls.n = 0;
    if (!pgk_vec_reserve(&r->allocs, record->n_alloc_sites) ||
        !pgk_vec_reserve(&r->calls, record->n_call_sites))
        return false;
    for (size_t i = 0; i < record->n_alloc_sites; i++)
        r->allocs.v[r->allocs.n++] = record->alloc_sites[i];
    for (size_t i = 0; i < record->n_call_sites; i++)
        r->calls.v[r->calls.n++] = record->call_sites[i];
    if (r->allocs.n)
        qsort_r(r->allocs.v, r->allocs.n, sizeof *r->allocs.v, by_stack,
                (void *)(uintptr_t)r->h);
    if (r->calls.n)
        qsort(r->calls.v, r->calls.n, sizeof *r->calls.v, by_chain);
    return true;
}

static int write_record(void *ctx, const struct pgk_heap_record *record)
{
    struct records *r = ctx;
    struct writer *w = &r->w;
    if (!sort_record(r, record))
        return PGK_E_NOMEM;
    if (!r->any)
        pgk_sink_printf(w->out, "\nHeapProfileRecords:");
    r->any = true;
    start_line(w, 2);
    pgk_sink_printf(w->out, "- GUID:            0x%" PRIx64, record->guid);
    if (record->n_alloc_sites) {
        start_line(w, 4);
        pgk_sink_printf(w->out, "AllocSites:");
    }
    for (size_t i = 0; i < r->allocs.n; i++)
        PGK_TRY(write_alloc_site(w, r->h, r->allocs.v[i], r->err));
    if (record->n_call_sites) {
        start_line(w, 4);
        pgk_sink_printf(w->out, "CallSites:");
    }
    for (size_t i = 0; i < r->calls.n; i++)
        write_call_site(w, &r->calls.v[i]);
    return 0;
}

/* Could a reader take the text for a number? */
static bool is_number(const char *s)
{
    static const char *const words[] = {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF"};
    for (size_t i = 0; i < PGK_COUNTOF(words); i++)
        if (!strcmp(s, words[i]))
            return true;
    char *end = NULL;
    if ((*s >= '0' && *s <= '9') || *s == '.')
        strtod(s, &end);
    return end && end != s && !*end;
}

enum quotes { QUOTES_NONE, QUOTES_SINGLE, QUOTES_DOUBLE };

/* As LLVM does it. */
static enum quotes quotes_for(const char *s)
{
    static const char *const words[] = {"~", "null", "Null", "NULL", "true", "True", "TRUE",
                                        "false", "False", "FALSE"};
    enum quotes quotes = QUOTES_NONE;
    for (size_t i = 0; i < PGK_COUNTOF(words); i++)
        if (!strcmp(s, words[i]))
            quotes = QUOTES_SINGLE;
    if (!*s)
        return QUOTES_SINGLE;
    if (*s == ' ' || *s == '\t' || *s == '-' || *s == ',' || s[strlen(s) - 1] == ' ' ||
        s[strlen(s) - 1] == '\t' || is_number(s))
        quotes = QUOTES_SINGLE;
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s, letter = c | 32;
        if ((c >= '0' && c <= '9') || (letter >= 'a' && letter <= 'z') || strchr("_-^., \t", c))
            continue;
        if (c >= 0x7f || c < 0x20)
            return QUOTES_DOUBLE;
        quotes = QUOTES_SINGLE;
    }
    return quotes;
}

static void write_escaped(struct writer *w, unsigned char c)
{
    static const char controls[] = "\a\b\t\n\v\f\r\033", letters[] = "abtnvfre";
    const char *control = c ? strchr(controls, c) : NULL;
    if (control)
        pgk_sink_printf(w->out, "\\%c", letters[control - controls]);
    else if (c < 0x20 || c == 0x7f)
        pgk_sink_printf(w->out, "\\x%02X", c);
    else
        pgk_sink_printf(w->out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
}

static void write_text(struct writer *w, const char *s)
{
    enum quotes quotes = quotes_for(s);
    static const char *const marks[] = {"", "'", "\""};
    pgk_sink_printf(w->out, "%s", marks[quotes]);
    for (; *s; s++) {
        if (quotes == QUOTES_DOUBLE)
            write_escaped(w, (unsigned char)*s);
        else
            pgk_sink_printf(w->out, quotes == QUOTES_SINGLE && *s == '\'' ? "''" : "%c", *s);
    }
    pgk_sink_printf(w->out, "%s", marks[quotes]);
}

static void write_entry(struct writer *w, const struct pgk_heap *h, const struct pgk_data_entry *e)
{
    start_line(w, 4);
    if (e->symbol) {
        pgk_sink_printf(w->out, "- Symbol:          ");
        write_text(w, pgk_intern_str(&h->strings, e->symbol));
    } else {
        pgk_sink_printf(w->out, "- Hash:            %" PRIu64, e->hash);
    }
    start_line(w, 6);
    pgk_sink_printf(w->out, "AccessCount:     %" PRIu64, e->count);
    if (!e->n_places)
        return;
    start_line(w, 6);
    pgk_sink_printf(w->out, "Locations:");
    for (uint32_t i = 0; i < e->n_places; i++) {
        start_line(w, 8);
        pgk_sink_printf(w->out, "- FileName:        ");
        write_text(w, pgk_intern_str(&h->strings, e->places[i].file));
        start_line(w, 10);
        pgk_sink_printf(w->out, "Line:            %" PRIu32, e->places[i].line);
    }
}

static void write_data_access(struct writer *w, const struct pgk_heap *h)
{
    const struct pgk_data_access *d = &h->data;
    pgk_sink_printf(w->out, "\nDataAccessProfiles:");
    if (d->entries.n) {
        start_line(w, 2);
        pgk_sink_printf(w->out, "SampledRecords:");
    }
    for (size_t i = 0; i < d->entries.n; i++)
        write_entry(w, h, &d->entries.v[i]);
    if (d->cold_symbols.n) {
        start_line(w, 2);
        pgk_sink_printf(w->out, "KnownColdSymbols:");
    }
    for (size_t i = 0; i < d->cold_symbols.n; i++) {
        start_line(w, 4);
        pgk_sink_printf(w->out, "- ");
        write_text(w, pgk_intern_str(&h->strings, d->cold_symbols.v[i]));
    }
    if (!d->cold_hashes.n)
        return;
    start_line(w, 2);
    pgk_sink_printf(w->out, "KnownColdStrHashes: ");
    unsigned bracket = column(w);
    pgk_sink_printf(w->out, "[");
    for (size_t i = 0; i < d->cold_hashes.n; i++) {
        separate(w, i, bracket);
        pgk_sink_printf(w->out, "%" PRIu64, d->cold_hashes.v[i]);
    }
    pgk_sink_printf(w->out, " ]");
}

static int write_plain(const struct pgk_heap *h, const char *comment, struct pgk_sink *out,
                       struct pgk_err *err)
{
    struct records r = {.w = {.out = out}, .h = h, .err = err};
    pgk_sink_printf(out, "---%s%s", comment ? "\n" : "", comment ? comment : "");
    int status = pgk_heap_records(h, write_record, &r);
    pgk_vec_free(&r.allocs);
    pgk_vec_free(&r.calls);
    if (status)
        return status == PGK_E_NOMEM ? pgk_fail_nomem(err) : status;
    if (pgk_data_access_any(&h->data))
        write_data_access(&r.w, h);
    else if (!r.any)
        pgk_sink_printf(out, "\n{}");
    pgk_sink_printf(out, "\n...\n");
    return 0;
}

int pgk_heap_yaml_write(const struct pgk_heap *h, const char *comment, struct pgk_sink *out,
                        struct pgk_err *err)
{
    struct pgk_heap *plain = NULL;
    PGK_TRY(pgk_heap_for_llvm(&plain, h, err));
    int status = write_plain(plain ? plain : h, comment, out, err);
    pgk_heap_close(&plain);
    return status;
}

int pgk_heap_write_yaml(const struct pgk_heap *heap, const char *path, struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_heap_check_writable(heap, path, "YAML heap profile", err));
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = pgk_heap_yaml_write(heap, NULL, out, err);
    if (!status)
        return pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}
