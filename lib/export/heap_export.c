/* Heap profiles in the formats of other viewers: the choice of one, and what they share. */
#include "heap_export.h"

#include "export_out.h"
#include "heap_page.h"
#include "opts.h"

const struct pgk_weight_text pgk_weight_texts[PGK_WEIGHTS] = {
    [PGK_WEIGHT_BYTES] = {"bytes", "alloc_space", "bytes"},
    [PGK_WEIGHT_COUNT] = {"count", "alloc_objects", "count"},
    [PGK_WEIGHT_ACCESSES] = {"accesses", "accesses", "count"},
    [PGK_WEIGHT_LIFETIME] = {"lifetime-bytes", "lifetime_space", "byte_seconds"},
};

const char *pgk_heap_weight_name(enum pgk_heap_weight weight)
{
    return pgk_weight_texts[weight].name;
}

uint64_t pgk_heap_weight(const struct pgk_mib *m, enum pgk_heap_weight weight)
{
    static const enum pgk_mib_id fields[PGK_WEIGHTS] = {
        [PGK_WEIGHT_BYTES] = PGK_MIB_TotalSize,
        [PGK_WEIGHT_COUNT] = PGK_MIB_AllocCount,
        [PGK_WEIGHT_ACCESSES] = PGK_MIB_TotalAccessCount,
        [PGK_WEIGHT_LIFETIME] = PGK_MIB_TotalLifetime,
    };
    enum pgk_mib_id id = fields[weight];
    if (!(m->known >> id & 1))
        return 0;
    if (weight != PGK_WEIGHT_LIFETIME)
        return m->v[id];
    if (!m->v[PGK_MIB_AllocCount])
        return 0;
    double average_s = (double)m->v[id] / (double)m->v[PGK_MIB_AllocCount] / 1000,
           sum = (double)m->v[PGK_MIB_TotalSize] * average_s;
    return sum < 0x1p63 ? (uint64_t)(sum + 0.5) : INT64_MAX;
}

static int stacks_init(struct pgk_stacks_of *s, struct pgk_err *err)
{
    s->nodes = pgk_mem_alloc(pgk_heap_contexts(s->heap), sizeof *s->nodes);
    if (!s->nodes)
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_heap_frames_init(&s->frames, err));
    return pgk_heap_frames_add(&s->frames, s->heap, s->nodes, err);
}

static int export_stacks(const struct pgk_heap *heap, pgk_export_fn *write,
                         const struct pgk_export_opts *opts, struct pgk_sink *out,
                         struct pgk_err *err)
{
    struct pgk_stacks_of stacks = {.heap = heap, .opts = opts};
    int status = stacks_init(&stacks, err);
    if (!status)
        status = write(&stacks, out, err);
    pgk_heap_frames_free(&stacks.frames);
    pgk_mem_free(stacks.nodes);
    return status;
}

static int export_json(const struct pgk_heap *heap, const struct pgk_export_opts *opts,
                       struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_report_opts report = {
        .struct_size = sizeof report, .title = opts->title, .info = opts->info};
    FILE *stream;
    PGK_TRY(pgk_export_stream(&stream, out, err));
    return pgk_export_stream_end(stream, pgk_report_heap_json(heap, &report, stream, err), err);
}

struct request {
    const struct pgk_heap *heap;
    enum pgk_export format;
    const struct pgk_export_opts *opts;
};

static int page_json(const void *ctx, struct pgk_sink *out, struct pgk_err *err)
{
    const struct request *r = ctx;
    struct pgk_page page = {.now = r->heap, .opts = r->opts, .out = out};
    int status = pgk_page_make(&page, err);
    if (!status)
        status = pgk_page_json(&page, err);
    pgk_page_free(&page);
    return status;
}

static int export_to(const void *ctx, struct pgk_sink *out, struct pgk_err *err)
{
    const struct request *r = ctx;
    switch (r->format) {
    case PGK_EXPORT_HTML:
        return pgk_export_page(out, page_json, r, err);
    case PGK_EXPORT_PPROF:
        return export_stacks(r->heap, pgk_heap_pprof, r->opts, out, err);
    case PGK_EXPORT_FOLDED:
        return export_stacks(r->heap, pgk_heap_folded, r->opts, out, err);
    case PGK_EXPORT_SPEEDSCOPE:
        return export_stacks(r->heap, pgk_heap_speedscope, r->opts, out, err);
    case PGK_EXPORT_CSV:
        return export_stacks(r->heap, pgk_heap_csv, r->opts, out, err);
    case PGK_EXPORT_JSON:
        return export_json(r->heap, r->opts, out, err);
    case PGK_EXPORTS:
        break;
    }
    return pgk_fail(err, PGK_E_ARG, .field = "format", .expected = "a format of the list");
}

int pgk_heap_export_save(const struct pgk_heap *heap, enum pgk_export format, const char *path,
                         const struct pgk_export_opts *given, struct pgk_err *err)
{
    struct pgk_export_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct request request = {heap, format, opts};
    if (!pgk_heap_contexts(heap))
        return pgk_fail(err, PGK_E_EMPTY, .file = path,
                        .hint = "the profile has no allocation contexts");
    return pgk_export_save(path, export_to, &request, err);
}
