/* A row per context, RFC 4180: for spreadsheets and data frames. */
#include "heap_export.h"

#include "export_out.h"
#include "heap_view.h"
#include "json_out.h"
#include "mib.h"

static void put_site(struct pgk_stacks_of *s, uint32_t stack, struct pgk_sink *out)
{
    uint32_t site = pgk_frames_site(&s->frames, stack);
    if (!site) {
        pgk_sink_printf(out, ",,,");
        return;
    }
    const struct pgk_view_frame *frame = pgk_frames_at(&s->frames, site);
    const struct pgk_view_func *func = pgk_frames_func(&s->frames, site);
    pgk_csv_cell(out, pgk_frames_text(&s->frames, func->name));
    pgk_sink_u8(out, ',');
    pgk_csv_cell(out, pgk_frames_text(&s->frames, func->file));
    pgk_sink_u8(out, ',');
    if (frame->line)
        pgk_json_number(out, frame->line);
    pgk_sink_u8(out, ',');
}

static void put_stack(struct pgk_stacks_of *s, uint32_t stack, struct pgk_sink *out)
{
    pgk_sink_u8(out, '"');
    for (uint32_t n = stack; n; n = s->frames.stacks.nodes.v[n].parent) {
        if (n != stack)
            pgk_sink_printf(out, " <- ");
        pgk_csv_text(out, pgk_frames_text(&s->frames, pgk_frames_func(&s->frames, n)->name));
    }
    pgk_sink_u8(out, '"');
}

int pgk_heap_csv(struct pgk_stacks_of *s, struct pgk_sink *out, struct pgk_err *err)
{
    (void)err;
    pgk_sink_printf(out, "context,label,function,file,line");
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        if (pgk_mib_is_of_histogram(id))
            continue;
        const char *unit, *name = pgk_mib_info(id, &unit, NULL);
        pgk_sink_printf(out, ",%s (%s)", name, unit);
    }
    pgk_sink_printf(out, ",stack\r\n");
    for (size_t c = 0; c < pgk_heap_contexts(s->heap); c++) {
        const struct pgk_mib *m = pgk_heap_mib(s->heap, c, PGK_MIB_ROOM);
        pgk_json_number(out, c);
        pgk_sink_printf(out, ",%s,", pgk_mib_label_name(pgk_view_label(m, s->opts->info)));
        put_site(s, s->nodes[c], out);
        for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
            if (pgk_mib_is_of_histogram(id))
                continue;
            if (m->known >> id & 1)
                pgk_json_number(out, m->v[id]);
            pgk_sink_u8(out, ',');
        }
        put_stack(s, s->nodes[c], out);
        pgk_sink_printf(out, "\r\n");
    }
    return 0;
}
