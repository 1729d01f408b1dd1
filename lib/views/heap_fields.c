/* Every field of a heap profile as text, for looking at bytes rather than at heaps. */
#include "heap_view.h"

#include "hex.h"
#include "mem.h"
#include "opts.h"

#include <inttypes.h>

static void print_frame(FILE *out, const char *indent, const struct pgk_heap_frame *f)
{
    if (f->is_address) {
        char id[PGK_BUILD_ID_TEXT];
        fprintf(out, "%s0x%016" PRIx64 " build id %s\n", indent, f->address,
                pgk_build_id_text(id, f->build_id, f->build_id_size));
        return;
    }
    fprintf(out, "%s0x%016" PRIx64 " +%" PRIu32 ":%" PRIu32 "%s", indent, f->guid, f->line_offset,
            f->column, f->inlined ? " inlined" : "");
    if (*f->function)
        fprintf(out, "  %s", f->function);
    if (*f->file)
        fprintf(out, "  %s:%" PRIu32, f->file, pgk_heap_frame_line(f));
    fputc('\n', out);
}

static int print_context(const struct pgk_heap *heap, size_t context, FILE *out,
                         struct pgk_err *err)
{
    struct pgk_arena arena = {0};
    struct pgk_heap_frame *frames;
    size_t n;
    const struct pgk_mib *m = pgk_heap_mib(heap, context, PGK_MIB_SPACE);
    fprintf(out, "context %zu\n", context);
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        const char *unit, *name = pgk_mib_info(id, &unit, NULL);
        if (m->known >> id & 1)
            fprintf(out, "  %-27s %" PRIu64 " %s\n", name, m->v[id], unit);
    }
    if (m->hist_count) {
        fputs("  AccessHistogram            ", out);
        for (uint32_t i = 0; i < m->hist_count; i++)
            fprintf(out, " %" PRIu64, m->hist[i]);
        fputc('\n', out);
    }
    int status = pgk_heap_view_stack(heap, context, &arena, &frames, &n, err);
    for (size_t i = 0; !status && i < n; i++)
        print_frame(out, "    ", &frames[i]);
    pgk_arena_free(&arena);
    return status;
}

/* The file's data about its processes. */
static void print_processes(const struct pgk_file_info *info, FILE *out)
{
    const uint64_t n = info ? pgk_file_info_fact(info, PGK_FACT_PROCESSES) : 0;
    if (!n)
        return;
    fprintf(out, "of %" PRIu64 " process%s\n", n, n == 1 ? "" : "es");
    fprintf(out, "  dumps                       %" PRIu64 "\n",
            pgk_file_info_fact(info, PGK_FACT_DUMPS));
    fprintf(out, "  interrupted                 %" PRIu64 " with %" PRIu64 " objects alive\n",
            pgk_file_info_fact(info, PGK_FACT_INTERRUPTED),
            pgk_file_info_fact(info, PGK_FACT_OBJECTS_ALIVE));
    fprintf(out, "  recording                   %" PRIu64 " ns, %" PRIu64 " B\n",
            pgk_file_info_fact(info, PGK_FACT_RECORDING_NS),
            pgk_file_info_fact(info, PGK_FACT_RECORDING_BYTES));
    if (pgk_file_info_fact(info, PGK_FACT_ONE_THREAD))
        fputs("  one thread allocated and freed\n", out);
    if (pgk_file_info_fact(info, PGK_FACT_LIBRARY_ACCESSES))
        fputs("  accesses of library functions only\n", out);
}

static void print_over_time(const struct pgk_heap *heap, FILE *out)
{
    struct pgk_heap_times t = {.struct_size = sizeof t};
    pgk_heap_over_time(heap, &t);
    if (!t.processes)
        return;
    fprintf(out, "over time of %" PRIu64 " process%s\n", t.processes,
            t.processes == 1 ? "" : "es");
    fprintf(out, "  peak after %" PRIu64 " ms: %" PRIu64 " B in %" PRIu64 " objects\n", t.peak_ms,
            t.peak_bytes, t.peak_objects);
    for (size_t i = 0, share = 0; i < t.n_points; i++) {
        const struct pgk_heap_point *p = &t.points[i];
        fprintf(out, "  after %" PRIu64 " ms: alive %" PRIu64 " B in %" PRIu64
                " objects, allocated %" PRIu64 " B in %" PRIu64 " objects\n", p->ms, p->bytes,
                p->objects, p->allocated_bytes, p->allocated_objects);
        for (; share < t.n_shares && pgk_heap_point_share(heap, share).point == i; share++)
            fprintf(out, "    of context %zu: %" PRIu64 " B\n",
                    pgk_heap_point_share(heap, share).context,
                    pgk_heap_point_share(heap, share).bytes);
    }
}

static int print_record(void *ctx, const struct pgk_heap_record *r)
{
    FILE *out = ctx;
    fprintf(out, "function 0x%016" PRIx64 "%s%s\n", r->guid, *r->function ? "  " : "",
            r->function);
    for (size_t i = 0; i < r->n_alloc_sites; i++)
        fprintf(out, "  allocates in context %zu\n", r->alloc_sites[i]);
    for (size_t i = 0; i < r->n_call_sites; i++) {
        const struct pgk_heap_call_site *c = &r->call_sites[i];
        fputs("  calls at\n", out);
        for (size_t f = 0; f < c->n_frames; f++)
            print_frame(out, "    ", &c->frames[f]);
        for (size_t k = 0; k < c->n_callees; k++)
            fprintf(out, "    -> 0x%016" PRIx64 "\n", c->callees[k]);
    }
    return 0;
}

int pgk_heap_print_fields(const struct pgk_heap *heap, const struct pgk_heap_print_opts *given,
                          FILE *out, struct pgk_err *err)
{
    struct pgk_heap_print_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    size_t *order = NULL, n = pgk_heap_contexts(heap);
    if (opts->top || opts->function)
        PGK_TRY(pgk_heap_ranking(heap, opts, &order, &n, err));
    int status = 0;
    print_processes(opts->info, out);
    print_over_time(heap, out);
    for (size_t i = 0; i < n && !status; i++)
        status = print_context(heap, order ? order[i] : i, out, err);
    pgk_mem_free(order);
    if (!status && pgk_heap_records(heap, print_record, out) < 0)
        status = pgk_fail_nomem(err);
    return status;
}
