/* Folded stacks: "main;parse;malloc 4096", a line per context, for flame graph tools. */
#include "heap_export.h"

#include "export_out.h"
#include "json_out.h"

static int put_stack(struct pgk_stacks_of *s, uint32_t stack, struct pgk_sink *out,
                     struct pgk_err *err)
{
    PGK_VEC(uint32_t) nodes = {0};
    const struct pgk_stack_tree *tree = &s->frames.stacks;
    for (uint32_t n = stack; n; n = tree->nodes.v[n].parent)
        if (!pgk_vec_push(&nodes, n)) {
            pgk_vec_free(&nodes);
            return pgk_fail_nomem(err);
        }
    for (size_t i = nodes.n; i-- > 0;) {
        pgk_folded_name(out,
                        pgk_frames_text(&s->frames, pgk_frames_func(&s->frames, nodes.v[i])->name));
        pgk_sink_u8(out, i ? ';' : ' ');
    }
    pgk_vec_free(&nodes);
    return 0;
}

int pgk_heap_folded(struct pgk_stacks_of *s, struct pgk_sink *out, struct pgk_err *err)
{
    for (size_t c = 0; c < pgk_heap_contexts(s->heap); c++) {
        uint64_t weight = pgk_heap_weight(pgk_heap_mib(s->heap, c, PGK_MIB_ROOM), s->opts->weight);
        if (!weight || !s->nodes[c])
            continue;
        PGK_TRY(put_stack(s, s->nodes[c], out, err));
        pgk_json_number(out, weight);
        pgk_sink_u8(out, '\n');
    }
    return 0;
}
