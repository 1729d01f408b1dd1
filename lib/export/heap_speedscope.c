/* The file format of speedscope (https://www.speedscope.app/file-format-schema.json): frames
 * once, then a profile per weight with a sample per context, its stack outermost first. */
#include "heap_export.h"

#include "json_out.h"
#include "pgokit/human.h"

static void put_frames(struct pgk_stacks_of *s, struct pgk_sink *out)
{
    bool first = true;
    pgk_sink_printf(out, "\"shared\":{\"frames\":[");
    for (size_t i = 0; i < s->frames.frames.n; i++) {
        const struct pgk_view_frame *frame = &s->frames.frames.v[i];
        const struct pgk_view_func *func = &s->frames.funcs.v[frame->func];
        pgk_json_comma(out, &first);
        pgk_sink_printf(out, "{\"name\":");
        pgk_json_text(out, pgk_frames_text(&s->frames, func->name));
        if (func->file) {
            pgk_sink_printf(out, ",\"file\":");
            pgk_json_text(out, pgk_frames_text(&s->frames, func->file));
        }
        if (frame->line)
            pgk_sink_printf(out, ",\"line\":%u", frame->line);
        if (frame->line && frame->column)
            pgk_sink_printf(out, ",\"col\":%u", frame->column);
        pgk_sink_printf(out, "}");
    }
    pgk_sink_printf(out, "]}");
}

static int put_stack(struct pgk_stacks_of *s, uint32_t stack, struct pgk_sink *out,
                     struct pgk_err *err)
{
    PGK_VEC(uint32_t) frames = {0};
    const struct pgk_stack_node *nodes = s->frames.stacks.nodes.v;
    bool first = true;
    for (uint32_t n = stack; n; n = nodes[n].parent)
        if (!pgk_vec_push(&frames, nodes[n].frame)) {
            pgk_vec_free(&frames);
            return pgk_fail_nomem(err);
        }
    pgk_sink_u8(out, '[');
    for (size_t i = frames.n; i-- > 0;) {
        pgk_json_comma(out, &first);
        pgk_json_number(out, frames.v[i]);
    }
    pgk_sink_u8(out, ']');
    pgk_vec_free(&frames);
    return 0;
}

static int put_profile(struct pgk_stacks_of *s, enum pgk_heap_weight weight, struct pgk_sink *out,
                       struct pgk_err *err)
{
    bool first = true;
    double sum = 0;
    pgk_sink_printf(out, "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\"samples\":[",
                    pgk_weight_texts[weight].name, weight == PGK_WEIGHT_BYTES ? "bytes" : "none");
    for (size_t c = 0; c < pgk_heap_contexts(s->heap); c++) {
        pgk_json_comma(out, &first);
        PGK_TRY(put_stack(s, s->nodes[c], out, err));
    }
    pgk_sink_printf(out, "],\"weights\":[");
    first = true;
    for (size_t c = 0; c < pgk_heap_contexts(s->heap); c++) {
        uint64_t v = pgk_heap_weight(pgk_heap_mib(s->heap, c, PGK_MIB_ROOM), weight);
        sum += (double)v;
        pgk_json_comma(out, &first);
        pgk_json_number(out, v);
    }
    pgk_sink_printf(out, "],\"startValue\":0,\"endValue\":");
    pgk_json_double(out, sum);
    pgk_sink_printf(out, "}");
    return 0;
}

int pgk_heap_speedscope(struct pgk_stacks_of *s, struct pgk_sink *out, struct pgk_err *err)
{
    char title[1024];
    bool first = true;
    pgk_sink_printf(out,
                    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                    "\"exporter\":\"pgokit %s\",\"name\":",
                    PGK_VERSION);
    pgk_json_text(out, pgk_human_text(title, sizeof title, s->opts->title ? s->opts->title : ""));
    pgk_sink_printf(out, ",\"activeProfileIndex\":0,");
    put_frames(s, out);
    pgk_sink_printf(out, ",\"profiles\":[");
    for (enum pgk_heap_weight w = 0; w < PGK_WEIGHTS; w++) {
        pgk_json_comma(out, &first);
        PGK_TRY(put_profile(s, w, out, err));
    }
    pgk_sink_printf(out, "]}\n");
    return 0;
}
