/* A row per context, RFC 4180: for spreadsheets and data frames. */
#include "exporters.h"

#include "csv_out.h"
#include "heap_frames.h"
#include "heap_view.h"
#include "mib.h"

static void put_site(const struct pgk_heap_frames *t, uint32_t stack, struct pgk_text_out *out)
{
    uint32_t site = pgk_frames_site(t, stack);
    if (!site) {
        pgk_text_lit(out, ",,,");
        return;
    }
    const struct pgk_view_frame *frame = pgk_frames_at(t, site);
    const struct pgk_view_func *func = pgk_frames_func(t, site);
    pgk_csv_cell(out, pgk_frames_text(t, func->name));
    pgk_text_lit(out, ",");
    pgk_csv_cell(out, pgk_frames_text(t, func->file));
    pgk_text_lit(out, ",");
    if (frame->line)
        pgk_text_u64(out, frame->line);
    pgk_text_lit(out, ",");
}

static void put_stack(const struct pgk_heap_frames *t, uint32_t stack, struct pgk_text_out *out)
{
    pgk_text_lit(out, "\"");
    for (uint32_t n = stack; n; n = t->stacks.nodes.v[n].parent) {
        if (n != stack)
            pgk_text_lit(out, " <- ");
        pgk_csv_text(out, pgk_frames_text(t, pgk_frames_func(t, n)->name));
    }
    pgk_text_lit(out, "\"");
}

static void put_heading(struct pgk_text_out *out)
{
    pgk_text_lit(out, "context,label,function,file,line");
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        if (pgk_mib_is_of_histogram(id))
            continue;
        const char *unit, *name = pgk_mib_info(id, &unit, NULL);
        pgk_text_printf(out, ",%s (%s)", name, unit);
    }
    pgk_text_lit(out, ",stack\r\n");
}

static void put_row(const struct pgk_heap_frames *t, const struct pgk_heap *heap, size_t context,
                    uint32_t stack, const struct pgk_file_info *info, struct pgk_text_out *out)
{
    const struct pgk_mib *m = pgk_heap_mib(heap, context, PGK_MIB_SPACE);
    pgk_text_u64(out, context);
    pgk_text_printf(out, ",%s,", pgk_mib_label_name(pgk_view_label(m, info)));
    put_site(t, stack, out);
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        if (pgk_mib_is_of_histogram(id))
            continue;
        if (m->known >> id & 1)
            pgk_text_u64(out, m->v[id]);
        pgk_text_lit(out, ",");
    }
    put_stack(t, stack, out);
    pgk_text_lit(out, "\r\n");
}

/* The contexts that allocate most, or all in the order of the profile. */
static int put_rows(const struct pgk_heap_frames *t, const struct pgk_heap *heap,
                    const uint32_t *stacks, const struct pgk_heap_export_opts *opts,
                    struct pgk_text_out *out, struct pgk_err *err)
{
    const struct pgk_heap_print_opts largest = {.struct_size = sizeof largest,
                                                .info = opts->info, .top = opts->max_contexts};
    size_t *order, n;
    PGK_TRY(pgk_heap_ranking(heap, &largest, &order, &n, err));
    for (size_t i = 0; i < n; i++) {
        size_t c = opts->max_contexts ? order[i] : i;
        put_row(t, heap, c, stacks[c], opts->info, out);
    }
    pgk_mem_free(order);
    return 0;
}

int pgk_export_heap_csv(const struct pgk_heap *heap, const struct pgk_heap_export_opts *opts,
                        struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_heap_frames frames;
    struct pgk_text_out text;
    uint32_t *stacks; /* by context */
    PGK_TRY(pgk_heap_frames_make(&frames, heap, &stacks, err));
    pgk_text_to_sink(&text, out);
    put_heading(&text);
    int status = put_rows(&frames, heap, stacks, opts, &text, err);
    pgk_text_flush(&text);
    pgk_heap_frames_free(&frames);
    pgk_mem_free(stacks);
    return status;
}
