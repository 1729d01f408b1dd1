/* Heap profiles as `llvm-profdata show --memory` of LLVM 22 prints them: raw ones with their
 * segments, others as YAML; both after a summary in comments. */
#include "filemap.h"
#include "heap_llvm_summary.h"
#include "heap_raw.h"
#include "heap_yaml.h"
#include "pgokit/llvm_text.h"

#include <inttypes.h>
#include <string.h>

static int comment_summary(const struct pgk_heap *h, char *text, size_t size)
{
    struct pgk_heap_llvm_summary s;
    const struct pgk_data_access *d = &h->data;
    pgk_heap_llvm_summary(h, &s);
    int n = snprintf(text, size,
                     "# MemProfSummary:\n#   Total contexts: %" PRIu64
                     "\n#   Total cold contexts: %" PRIu64 "\n#   Total hot contexts: %" PRIu64
                     "\n#   Maximum cold context total size: %" PRIu64
                     "\n#   Maximum warm context total size: %" PRIu64
                     "\n#   Maximum hot context total size: %" PRIu64 "\n",
                     s.contexts, s.cold, s.hot, s.largest_cold, s.largest_warm, s.largest_hot);
    if (pgk_data_access_any(d))
        n += snprintf(text + n, size - (size_t)n,
                      "#   Num hot symbols and string literals: %zu\n"
                      "#   Num known cold symbols: %zu\n#   Num known cold string literals: %zu\n",
                      d->entries.n, d->cold_symbols.n, d->cold_hashes.n);
    return n;
}

/* ---- of a raw profile ---- */

/* The order of LLVM's records: functions that allocate, as their contexts come, then functions
 * that only call them. */
struct order {
    PGK_VEC(uint64_t) guids;
    struct pgk_index by_guid;
    bool failed;
};

static void put_in_order(struct order *o, uint64_t guid)
{
    PGK_INDEX_FOR (&o->by_guid, guid, i)
        if (o->guids.v[i] == guid)
            return;
    if (!pgk_vec_push(&o->guids, guid) ||
        !pgk_index_add(&o->by_guid, guid, (uint32_t)o->guids.n - 1))
        o->failed = true;
}

typedef PGK_VEC(struct pgk_heap_frame) frame_vec;

static bool read_stack(const struct pgk_heap *h, size_t context, frame_vec *frames)
{
    size_t n = pgk_heap_stack(h, context, NULL, 0);
    frames->n = 0;
    if (!pgk_vec_reserve(frames, n + 1))
        return false;
    frames->n = pgk_heap_stack(h, context, frames->v, n);
    return true;
}

static void order_records(const struct pgk_heap *h, struct order *o, frame_vec *frames)
{
    for (int callers = 0; callers < 2; callers++)
        for (size_t i = 0; i < h->contexts.n && !o->failed; i++) {
            o->failed |= !read_stack(h, i, frames);
            for (size_t k = 0; k < frames->n && !o->failed; k++) {
                put_in_order(o, frames->v[k].guid);
                if (!callers && !frames->v[k].inlined)
                    break;
            }
        }
}

static void put_frame(const struct pgk_heap_frame *f, FILE *out)
{
    fprintf(out, "      -\n        Function: %" PRIu64 "\n        SymbolName: %s\n"
            "        LineOffset: %" PRIu32 "\n        Column: %" PRIu32 "\n        Inline: %d\n",
            f->guid, *f->function ? f->function : "<None>", f->line_offset, f->column, f->inlined);
}

static void put_block(const struct pgk_heap *h, size_t context, FILE *out)
{
    const struct pgk_mib *m = pgk_heap_mib(h, context, PGK_MIB_SPACE);
    size_t n;
    const uint64_t *histogram = pgk_heap_histogram(h, context, &n);
    fputs("      MemInfoBlock:\n", out);
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        if (!(pgk_mib_llvm_known >> id & 1) && !pgk_mib_is_of_histogram(id))
            continue;
        uint64_t value = id == PGK_MIB_AccessHistogramSize ? n
                         : id == PGK_MIB_AccessHistogram   ? 0
                                                           : pgk_mib_file_value(m, id);
        fprintf(out, "        %s: %" PRIu64 "\n", pgk_mib_fields[id].name, value);
    }
    if (!n)
        return;
    fputs("        AccessHistogramValues:", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %" PRIu64, histogram[i]);
    fputc('\n', out);
}

struct printer {
    const struct pgk_heap *h;
    FILE *out;
    uint64_t guid;      /* of the record to print */
    frame_vec frames;
    uint64_t functions, blocks; /* that allocate; their contexts */
    bool failed;
};

static int put_record(void *ctx, const struct pgk_heap_record *r)
{
    struct printer *w = ctx;
    if (r->guid != w->guid)
        return 0;
    fprintf(w->out, "  -\n    FunctionGUID: %" PRIu64 "\n", r->guid);
    if (r->n_alloc_sites)
        fputs("    AllocSites:\n", w->out);
    for (size_t i = 0; i < r->n_alloc_sites; i++) {
        if (!read_stack(w->h, r->alloc_sites[i], &w->frames))
            return PGK_E_NOMEM;
        fputs("    -\n      Callstack:\n", w->out);
        for (size_t k = 0; k < w->frames.n; k++)
            put_frame(&w->frames.v[k], w->out);
        put_block(w->h, r->alloc_sites[i], w->out);
    }
    if (r->n_call_sites)
        fputs("    CallSites:\n", w->out);
    for (size_t i = 0; i < r->n_call_sites; i++)
        for (size_t k = 0; k < r->call_sites[i].n_frames; k++) {
            fputs("    -\n", w->out);
            put_frame(&r->call_sites[i].frames[k], w->out);
        }
    return 0;
}

static int count_record(void *ctx, const struct pgk_heap_record *r)
{
    struct printer *w = ctx;
    w->functions += r->n_alloc_sites > 0;
    w->blocks += r->n_alloc_sites;
    return 0;
}

static int put_segment(void *ctx, const struct pgk_raw_place *s)
{
    FILE *out = ctx;
    fputs("  -\n    BuildId: ", out);
    for (size_t i = 0; i < s->id_size; i++)
        fprintf(out, "%02x", s->id[i]);
    fprintf(out, "%s\n    Start: 0x%" PRIX64 "\n    End: 0x%" PRIX64 "\n    Offset: 0x%" PRIX64
            "\n", s->id_size ? "" : "<None>", s->start, s->end, s->offset);
    return 0;
}

static int count_segment(void *ctx, const struct pgk_raw_place *s)
{
    (void)s;
    ++*(uint64_t *)ctx;
    return 0;
}

static int put_raw(const struct pgk_heap *h, const struct pgk_filemap *map,
                   const struct pgk_source *src, uint32_t version, FILE *out, struct pgk_err *err)
{
    char summary[1024];
    uint64_t segments = 0;
    struct printer w = {.h = h, .out = out};
    struct order order = {0};
    PGK_TRY(pgk_heap_raw_places(map->bytes, map->size, src, count_segment, &segments, err));
    comment_summary(h, summary, sizeof summary);
    int status = pgk_heap_records(h, count_record, &w);
    fprintf(out, "---\n%sMemprofProfile:\n  Summary:\n    Version: %" PRIu32
            "\n    NumSegments: %" PRIu64 "\n    NumMibInfo: %" PRIu64
            "\n    NumAllocFunctions: %" PRIu64 "\n    NumStackOffsets: %zu\n  Segments:\n",
            summary, version, segments, w.blocks, w.functions, h->contexts.n);
    if (!status)
        status = pgk_heap_raw_places(map->bytes, map->size, src, put_segment, out, err);
    fputs("  Records:\n", out);
    order_records(h, &order, &w.frames);
    for (size_t i = 0; i < order.guids.n && !status; i++) {
        w.guid = order.guids.v[i];
        status = pgk_heap_records(h, put_record, &w);
    }
    bool failed = order.failed || status == PGK_E_NOMEM;
    pgk_vec_free(&order.guids);
    pgk_index_free(&order.by_guid);
    pgk_vec_free(&w.frames);
    return failed ? pgk_fail_nomem(err) : status;
}

/* ---- */

static int put_yaml(const struct pgk_heap *h, struct pgk_err *err)
{
    char summary[1024];
    struct pgk_sink *out;
    /* LLVM begins the document once more; each line of YAML begins with the end of the last. */
    int n = comment_summary(h, summary, sizeof summary);
    snprintf(summary + n, sizeof summary - (size_t)n, "---");
    PGK_TRY(pgk_sink_open(&out, "-", err));
    int status = pgk_heap_yaml_write(h, summary, out, err);
    if (!status)
        return pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}

int pgk_heap_print_llvm(const struct pgk_heap *heap, const struct pgk_file_info *info,
                        const char *path, FILE *out, struct pgk_err *err)
{
    struct pgk_filemap map;
    struct pgk_source src = {.file = path, .format = "raw heap profile"};
    if (strcmp(pgk_file_info_format(info)->name, "raw heap profile") != 0)
        return put_yaml(heap, err);
    PGK_TRY(pgk_filemap_open(&map, path, err));
    int status = put_raw(heap, &map, &src, pgk_file_info_version(info), out, err);
    pgk_filemap_close(&map);
    return status;
}
