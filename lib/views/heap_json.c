/* A heap profile as JSON, schema "pgokit-heap-1". docs/formats/heap-json.md */
#include "heap_advice.h"
#include "heap_view.h"
#include "json_out.h"
#include "mem.h"
#include "opts.h"
#include "profile_json.h"

#include <math.h>

/* How far members, and entries of the long lists, are indented. */
enum { MEMBER = 2, ENTRY = 4 };

static void put_frame(struct pgk_json *j, const struct pgk_heap_frame *f)
{
    pgk_json_object(j, NULL);
    if (f->is_address) {
        if (f->build_id_size)
            pgk_json_hex_bytes(j, "build_id", f->build_id, f->build_id_size);
        if (*f->module_path)
            pgk_json_text(j, "module", f->module_path);
        if (*f->near_symbol)
            pgk_json_text(j, "near", f->near_symbol);
        pgk_json_hex(j, "address", f->address, 16);
        pgk_json_end_object(j);
        return;
    }
    if (*f->function)
        pgk_json_text(j, "function", f->function);
    pgk_json_hex(j, "guid", f->guid, 16);
    pgk_json_number(j, "line_offset", f->line_offset);
    pgk_json_number(j, "column", f->column);
    if (f->discriminator)
        pgk_json_number(j, "discriminator", f->discriminator);
    pgk_json_flag(j, "inline", f->inlined);
    if (f->by_symbol)
        pgk_json_flag(j, "by_symbol", true);
    if (*f->file) {
        pgk_json_text(j, "file", f->file);
        pgk_json_number(j, "line", pgk_heap_frame_line(f));
    }
    pgk_json_end_object(j);
}

static void put_mib(struct pgk_json *j, const struct pgk_mib *m)
{
    pgk_json_object(j, "mib");
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (m->known >> id & 1)
            pgk_json_number(j, pgk_mib_info(id, NULL, NULL), m->v[id]);
    pgk_json_end_object(j);
    if (!m->hist_count)
        return;
    pgk_json_array(j, "histogram");
    for (uint32_t i = 0; i < m->hist_count; i++)
        pgk_json_number(j, NULL, m->hist[i]);
    pgk_json_end_array(j);
}

static uint64_t whole(double v)
{
    return v < 0x1p64 ? (uint64_t)v : UINT64_MAX;
}

/* From low to high; what has no upper limit has no high. */
static void put_interval(struct pgk_json *j, const char *key, const struct pgk_heap_estimate *e)
{
    pgk_json_object(j, key);
    pgk_json_number(j, "low", whole(floor(e->low)));
    if (!isinf(e->high))
        pgk_json_number(j, "high", whole(ceil(e->high)));
    pgk_json_end_object(j);
}

static void put_intervals(struct pgk_json *j, const struct pgk_mib *m)
{
    static const enum pgk_mib_id figures[] = {PGK_MIB_AllocCount, PGK_MIB_TotalSize,
                                              PGK_MIB_TotalAccessCount};
    struct pgk_heap_estimate e;
    if (!pgk_mib_is_sampled(m))
        return;
    pgk_json_object(j, "intervals");
    for (size_t i = 0; i < PGK_COUNTOF(figures); i++)
        if (pgk_mib_estimate(m, figures[i], &e))
            put_interval(j, pgk_mib_info(figures[i], NULL, NULL), &e);
    pgk_json_end_object(j);
}

static int put_context(struct pgk_json *j, const struct pgk_heap *heap,
                       const struct pgk_file_info *info, size_t context, struct pgk_err *err)
{
    struct pgk_arena arena = {0};
    struct pgk_heap_frame *frames;
    size_t n;
    int status = pgk_heap_view_stack(heap, context, &arena, &frames, &n, err);
    if (!status) {
        const struct pgk_mib *m = pgk_heap_mib(heap, context, PGK_MIB_SPACE);
        pgk_json_line(j, ENTRY);
        pgk_json_object(j, NULL);
        pgk_json_text(j, "label", pgk_mib_label_name(pgk_view_label(m, info)));
        put_mib(j, m);
        put_intervals(j, m);
        const char *type = pgk_heap_type_name(heap, m->v[PGK_MIB_DataTypeId]);
        if (*type)
            pgk_json_text(j, "type", type);
        pgk_json_array(j, "stack");
        for (size_t i = 0; i < n; i++)
            put_frame(j, &frames[i]);
        pgk_json_end_array(j);
        pgk_json_end_object(j);
    }
    pgk_arena_free(&arena);
    return status;
}

static void put_call_site(struct pgk_json *j, const struct pgk_heap_call_site *c)
{
    pgk_json_object(j, NULL);
    pgk_json_array(j, "frames");
    for (size_t f = 0; f < c->n_frames; f++)
        put_frame(j, &c->frames[f]);
    pgk_json_end_array(j);
    pgk_json_array(j, "callees");
    for (size_t k = 0; k < c->n_callees; k++)
        pgk_json_hex(j, NULL, c->callees[k], 16);
    pgk_json_end_array(j);
    pgk_json_end_object(j);
}

static int put_record(void *ctx, const struct pgk_heap_record *r)
{
    struct pgk_json *j = ctx;
    pgk_json_line(j, ENTRY);
    pgk_json_object(j, NULL);
    pgk_json_hex(j, "guid", r->guid, 16);
    if (*r->function)
        pgk_json_text(j, "function", r->function);
    pgk_json_array(j, "alloc_sites");
    for (size_t i = 0; i < r->n_alloc_sites; i++)
        pgk_json_number(j, NULL, r->alloc_sites[i]);
    pgk_json_end_array(j);
    pgk_json_array(j, "call_sites");
    for (size_t i = 0; i < r->n_call_sites; i++)
        put_call_site(j, &r->call_sites[i]);
    pgk_json_end_array(j);
    pgk_json_end_object(j);
    return 0;
}

static void put_totals(struct pgk_json *j, const struct pgk_heap *heap,
                       const struct pgk_file_info *info)
{
    static const enum pgk_mib_id sums[] = {PGK_MIB_AllocCount, PGK_MIB_TotalSize,
                                           PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime,
                                           PGK_MIB_PeakSize, PGK_MIB_PeakCount,
                                           PGK_MIB_ExitSize, PGK_MIB_ExitCount,
                                           PGK_MIB_TemporaryCount, PGK_MIB_TouchedSize,
                                           PGK_MIB_UntouchedSize, PGK_MIB_UnreachableSize,
                                           PGK_MIB_UnreachableCount, PGK_MIB_ShortLivedSize,
                                           PGK_MIB_CutSize};
    struct pgk_heap_totals t;
    pgk_heap_totals(heap, info, &t);
    pgk_json_line(j, MEMBER);
    pgk_json_object(j, "totals");
    pgk_json_number(j, "contexts", t.contexts);
    for (size_t i = 0; i < PGK_COUNTOF(sums); i++)
        if (t.known >> sums[i] & 1)
            pgk_json_number(j, pgk_mib_info(sums[i], NULL, NULL), t.v[sums[i]]);
    pgk_json_object(j, "labels");
    for (enum pgk_mib_label l = 0; l < PGK_LABELS; l++) {
        if (l == PGK_LABEL_NONE || (l == PGK_LABEL_UNDECIDED && !t.sampled))
            continue;
        pgk_json_object(j, pgk_mib_label_name(l));
        pgk_json_number(j, "contexts", t.label_contexts[l]);
        pgk_json_number(j, "TotalSize", t.label_bytes[l]);
        pgk_json_end_object(j);
    }
    pgk_json_end_object(j);
    pgk_json_end_object(j);
}

static void put_sampling(struct pgk_json *j, const struct pgk_heap *heap)
{
    struct pgk_heap_sampling s = {.struct_size = sizeof s};
    if (!pgk_heap_sampling(heap, &s))
        return;
    pgk_json_line(j, MEMBER);
    pgk_json_object(j, "sampled");
    pgk_json_number(j, "processes", s.processes);
    pgk_json_number(j, "samples", s.samples);
    pgk_json_number(j, "hits", s.hits);
    if (s.sample_bytes)
        pgk_json_number(j, "sample_bytes", s.sample_bytes);
    if (s.exact) {
        pgk_json_number(j, "made_bytes", (uint64_t)s.bytes.value);
        pgk_json_number(j, "made_objects", (uint64_t)s.objects.value);
    }
    pgk_json_object(j, "intervals");
    put_interval(j, "AllocCount", &s.objects);
    put_interval(j, "TotalSize", &s.bytes);
    put_interval(j, "TotalAccessCount", &s.accesses);
    pgk_json_end_object(j);
    pgk_json_end_object(j);
}

/* A column of each field, as there may be thousands. */
static void put_shares(struct pgk_json *j, const struct pgk_heap *heap, size_t n,
                       const struct pgk_view_rows *rows)
{
    enum { POINT, CONTEXT, BYTES, COLUMNS };
    const char *const names[COLUMNS] = {"point", rows ? "row" : "context", "bytes"};
    pgk_json_object(j, "shares");
    for (int column = 0; column < COLUMNS; column++) {
        pgk_json_array(j, names[column]);
        for (size_t i = 0; i < n; i++) {
            const struct pgk_heap_share s = pgk_heap_point_share(heap, i);
            if (rows && rows->of[s.context] >= rows->n)
                continue;
            const uint64_t context = rows ? rows->of[s.context] : s.context;
            pgk_json_number(j, NULL,
                            column == POINT ? s.point : column == CONTEXT ? context : s.bytes);
        }
        pgk_json_end_array(j);
    }
    pgk_json_end_object(j);
}

void pgk_view_put_times(struct pgk_json *j, const char *key, const struct pgk_heap *heap,
                        const struct pgk_heap_times *t, const struct pgk_view_rows *rows)
{
    pgk_json_object(j, key);
    pgk_json_number(j, "processes", t->processes);
    pgk_json_number(j, "peak_ms", t->peak_ms);
    pgk_json_number(j, "peak_bytes", t->peak_bytes);
    pgk_json_number(j, "peak_objects", t->peak_objects);
    pgk_json_array(j, "points");
    for (size_t i = 0; i < t->n_points; i++) {
        const struct pgk_heap_point *p = &t->points[i];
        pgk_json_object(j, NULL);
        pgk_json_number(j, "ms", p->ms);
        pgk_json_number(j, "bytes", p->bytes);
        pgk_json_number(j, "objects", p->objects);
        pgk_json_number(j, "allocated_bytes", p->allocated_bytes);
        pgk_json_number(j, "allocated_objects", p->allocated_objects);
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
    if (t->n_shares)
        put_shares(j, heap, t->n_shares, rows);
    pgk_json_end_object(j);
}

static void put_times(struct pgk_json *j, const struct pgk_heap *heap)
{
    struct pgk_heap_times t = {.struct_size = sizeof t};
    pgk_heap_over_time(heap, &t);
    if (!t.processes)
        return;
    pgk_json_line(j, MEMBER);
    pgk_view_put_times(j, "over_time", heap, &t, NULL);
}

static void put_recording(struct pgk_json *j, const struct pgk_heap *heap)
{
    struct pgk_heap_recording r = {.struct_size = sizeof r};
    if (!pgk_heap_recording(heap, &r))
        return;
    pgk_json_line(j, MEMBER);
    pgk_json_object(j, "recording");
    if (*r.program)
        pgk_json_text(j, "program", r.program);
    if (*r.command_line)
        pgk_json_text(j, "command_line", r.command_line);
    if (*r.host)
        pgk_json_text(j, "host", r.host);
    if (r.start_ms)
        pgk_json_number(j, "start_ms", r.start_ms);
    pgk_json_end_object(j);
}

/* As on the page and in the table: bytes at stake by rule, and the contexts. */
static int put_advice(struct pgk_json *j, const struct pgk_heap *heap,
                      const struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_advice_list list;
    PGK_TRY(pgk_heap_advise(heap, info, &list, err));
    pgk_json_line(j, MEMBER);
    pgk_json_array(j, "advice");
    for (size_t i = 0; i < list.n; i++) {
        const struct pgk_advice *a = &list.v[i];
        pgk_json_object(j, NULL);
        pgk_json_text(j, "rule", pgk_advice_texts[a->rule].name);
        pgk_json_number(j, "bytes", a->bytes);
        pgk_json_number(j, "objects", a->objects);
        pgk_json_text(j, "action", pgk_advice_texts[a->rule].action);
        pgk_json_array(j, "contexts");
        for (size_t c = 0; c < a->n; c++)
            pgk_json_number(j, NULL, list.stakes[a->first + c].context);
        pgk_json_end_array(j);
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
    pgk_advice_free(&list);
    return 0;
}

static void put_units(struct pgk_json *j)
{
    pgk_json_line(j, MEMBER);
    pgk_json_object(j, "units");
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        const char *unit, *name = pgk_mib_info(id, &unit, NULL);
        pgk_json_text(j, name, unit);
    }
    pgk_json_end_object(j);
}

static void put_file(struct pgk_json *j, const struct pgk_file_info *info)
{
    pgk_json_line(j, MEMBER);
    pgk_json_text(j, "format", pgk_file_info_format(info)->name);
    pgk_json_line(j, MEMBER);
    pgk_json_number(j, "version", pgk_file_info_version(info));
    if (pgk_file_info_fact(info, PGK_FACT_HEAP)) {
        pgk_json_line(j, MEMBER);
        pgk_json_number(j, "memprof_version", pgk_file_info_fact(info, PGK_FACT_MEMPROF_VERSION));
    }
    if (pgk_file_info_fact(info, PGK_FACT_PROCESSES)) {
        pgk_json_line(j, MEMBER);
        pgk_json_number(j, "processes", pgk_file_info_fact(info, PGK_FACT_PROCESSES));
        pgk_json_line(j, MEMBER);
        pgk_json_number(j, "interrupted", pgk_file_info_fact(info, PGK_FACT_INTERRUPTED));
        pgk_json_line(j, MEMBER);
        pgk_json_number(j, "objects_alive", pgk_file_info_fact(info, PGK_FACT_OBJECTS_ALIVE));
    }
}

static int put_contexts(struct pgk_json *j, const struct pgk_heap *heap,
                        const struct pgk_heap_print_opts *opts, const size_t *order, size_t n,
                        struct pgk_err *err)
{
    if (!opts->top) /* advice is by positions of contexts */
        PGK_TRY(put_advice(j, heap, opts->info, err));
    pgk_json_line(j, MEMBER);
    pgk_json_array(j, "contexts");
    for (size_t i = 0; i < n; i++)
        PGK_TRY(put_context(j, heap, opts->info, order ? order[i] : i, err));
    pgk_json_line(j, MEMBER);
    pgk_json_end_array(j);
    pgk_json_line(j, MEMBER);
    pgk_json_array(j, "records");
    if (!opts->top && pgk_heap_records(heap, put_record, j) < 0)
        return pgk_fail_nomem(err);
    pgk_json_line(j, MEMBER);
    pgk_json_end_array(j);
    return 0;
}

int pgk_heap_json(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                  struct pgk_text_out *out, struct pgk_err *err)
{
    struct pgk_json j;
    size_t *order = NULL, n = pgk_heap_contexts(heap);
    if (opts->top || opts->function)
        PGK_TRY(pgk_heap_ranking(heap, opts, &order, &n, err));
    pgk_json_begin(&j, out, PGK_JSON_OUTLINE);
    pgk_json_object(&j, NULL);
    pgk_json_line(&j, MEMBER);
    pgk_json_text(&j, "schema", "pgokit-heap-1");
    if (opts->info)
        put_file(&j, opts->info);
    put_units(&j);
    put_recording(&j, heap);
    put_sampling(&j, heap);
    put_totals(&j, heap, opts->info);
    put_times(&j, heap);
    int status = put_contexts(&j, heap, opts, order, n, err);
    pgk_json_line(&j, 0);
    pgk_json_end_object(&j);
    pgk_text_lit(out, "\n");
    pgk_text_flush(out);
    pgk_mem_free(order);
    return status;
}

int pgk_heap_print_json(const struct pgk_heap *heap, const struct pgk_heap_print_opts *given,
                        FILE *out, struct pgk_err *err)
{
    struct pgk_heap_print_opts opts;
    struct pgk_text_out text;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    pgk_text_to_file(&text, out);
    return pgk_heap_json(heap, &opts, &text, err);
}
