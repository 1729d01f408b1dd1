/* Writer of YAML heap profiles: the very bytes that llvm-profdata 22 prints for records in
 * this order, with the fields that a context knows. */
#include "heap_yaml.h"

#include <inttypes.h>

/* Flow lists break the line before an item once a column is passed. */
enum { BREAK_COLUMN = 80 };

struct writer {
    struct pgk_sink *out;
    uint64_t line_start;
};

static void start_line(struct writer *w, unsigned indent)
{
    pgk_sink_printf(w->out, "\n");
    w->line_start = pgk_sink_tell(w->out);
    pgk_sink_printf(w->out, "%*s", (int)indent, "");
}

static unsigned column(const struct writer *w)
{
    return (unsigned)(pgk_sink_tell(w->out) - w->line_start);
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
    const struct pgk_mib *m = pgk_heap_mib(h, context);
    size_t n = pgk_heap_stack(h, context, NULL, 0);
    if (!pgk_vec_reserve(&frames, n + 1))
        return pgk_fail_nomem(err);
    pgk_heap_stack(h, context, frames.v, n);
    start_line(w, 6);
    pgk_sink_printf(w->out, "- Callstack:");
    for (size_t i = 0; i < n; i++)
        write_frame(w, &frames.v[i], 10);
    start_line(w, 8);
    pgk_sink_printf(w->out, m->known ? "MemInfoBlock:" : "MemInfoBlock:    {}");
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (m->known >> id & 1) {
            start_line(w, 10);
            pgk_sink_printf(w->out, "%s:%*s%" PRIu64, pgk_mib_fields[id].name,
                            strlen(pgk_mib_fields[id].name) < 15
                                ? 16 - (int)strlen(pgk_mib_fields[id].name)
                                : 1,
                            "", pgk_mib_file_value(m, id));
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
};

static int write_record(void *ctx, const struct pgk_heap_record *record)
{
    struct records *r = ctx;
    struct writer *w = &r->w;
    if (!r->any)
        pgk_sink_printf(w->out, "\nHeapProfileRecords:");
    r->any = true;
    start_line(w, 2);
    pgk_sink_printf(w->out, "- GUID:            0x%" PRIx64, record->guid);
    if (record->n_alloc_sites) {
        start_line(w, 4);
        pgk_sink_printf(w->out, "AllocSites:");
    }
    for (size_t i = 0; i < record->n_alloc_sites; i++)
        PGK_TRY(write_alloc_site(w, r->h, record->alloc_sites[i], r->err));
    if (record->n_call_sites) {
        start_line(w, 4);
        pgk_sink_printf(w->out, "CallSites:");
    }
    for (size_t i = 0; i < record->n_call_sites; i++)
        write_call_site(w, &record->call_sites[i]);
    return 0;
}

int pgk_heap_yaml_write(const struct pgk_heap *h, struct pgk_sink *out, struct pgk_err *err)
{
    struct records r = {.w = {.out = out}, .h = h, .err = err};
    pgk_sink_printf(out, "---");
    int status = pgk_heap_records(h, write_record, &r);
    if (status)
        return status == PGK_E_NOMEM ? pgk_fail_nomem(err) : status;
    pgk_sink_printf(out, "%s\n...\n", r.any ? "" : "\n{}");
    return 0;
}

int pgk_heap_yaml_save(const struct pgk_heap *heap, const char *path, struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_heap_check_writable(heap, path, "YAML heap profile", err));
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = pgk_heap_yaml_write(heap, out, err);
    if (!status)
        return pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}
