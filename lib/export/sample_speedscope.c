/* A sample profile in the file format of speedscope
 * (https://www.speedscope.app/file-format-schema.json): functions once, then a sample per
 * function, inlinee or context with samples of its own, its stack outermost first. */
#include "sample_export.h"

#include "json_out.h"
#include "pgokit/human.h"

struct speedscope {
    const struct pgk_sample_tree *tree;
    struct pgk_sink *out;
    bool first;
    double sum;
};

static int put_stack(void *ctx, const uint32_t *nodes, size_t n, uint64_t samples)
{
    struct speedscope *s = ctx;
    bool first = true;
    (void)samples;
    pgk_json_comma(s->out, &s->first);
    pgk_sink_u8(s->out, '[');
    for (size_t i = 0; i < n; i++) {
        pgk_json_comma(s->out, &first);
        pgk_json_number(s->out, s->tree->nodes.v[nodes[i]].func);
    }
    pgk_sink_u8(s->out, ']');
    return 0;
}

static int put_weight(void *ctx, const uint32_t *nodes, size_t n, uint64_t samples)
{
    struct speedscope *s = ctx;
    (void)nodes, (void)n;
    pgk_json_comma(s->out, &s->first);
    pgk_json_number(s->out, samples);
    s->sum += (double)samples;
    return 0;
}

static void put_frames(const struct pgk_sample_tree *t, struct pgk_sink *out)
{
    bool first = true;
    pgk_sink_printf(out, "\"shared\":{\"frames\":[");
    for (size_t i = 0; i < t->funcs.n; i++) {
        pgk_json_comma(out, &first);
        pgk_sink_printf(out, "{\"name\":");
        pgk_json_text(out, pgk_sample_tree_text(t, t->funcs.v[i].name));
        pgk_sink_printf(out, "}");
    }
    pgk_sink_printf(out, "]}");
}

int pgk_sample_speedscope(struct pgk_sample_stacks *s, struct pgk_sink *out, struct pgk_err *err)
{
    struct speedscope v = {.tree = &s->tree, .out = out, .first = true};
    char title[1024];
    pgk_sink_printf(out,
                    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                    "\"exporter\":\"pgokit %s\",\"name\":",
                    PGK_VERSION);
    pgk_json_text(out, pgk_human_text(title, sizeof title, s->opts->title ? s->opts->title : ""));
    pgk_sink_printf(out, ",\"activeProfileIndex\":0,");
    put_frames(&s->tree, out);
    pgk_sink_printf(out, ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"samples\","
                         "\"unit\":\"none\",\"samples\":[");
    PGK_TRY(pgk_sample_each_stack(&s->tree, put_stack, &v, err));
    pgk_sink_printf(out, "],\"weights\":[");
    v.first = true;
    PGK_TRY(pgk_sample_each_stack(&s->tree, put_weight, &v, err));
    pgk_sink_printf(out, "],\"startValue\":0,\"endValue\":");
    pgk_json_double(out, v.sum);
    pgk_sink_printf(out, "}]}\n");
    return 0;
}
