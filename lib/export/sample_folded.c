/* Folded stacks of a sample profile: "main;parse;next 4096", a line per function, inlinee or
 * context with samples of its own, for flame graph tools. */
#include "sample_export.h"

#include "json_out.h"

struct folded {
    const struct pgk_sample_tree *tree;
    struct pgk_sink *out;
};

static int put_stack(void *ctx, const uint32_t *nodes, size_t n, uint64_t samples)
{
    struct folded *f = ctx;
    for (size_t i = 0; i < n; i++) {
        pgk_folded_name(f->out, pgk_sample_tree_name(f->tree, nodes[i]));
        pgk_sink_u8(f->out, i + 1 < n ? ';' : ' ');
    }
    pgk_json_number(f->out, samples);
    pgk_sink_u8(f->out, '\n');
    return 0;
}

int pgk_sample_folded(struct pgk_sample_stacks *s, struct pgk_sink *out, struct pgk_err *err)
{
    struct folded folded = {&s->tree, out};
    return pgk_sample_each_stack(&s->tree, put_stack, &folded, err);
}
