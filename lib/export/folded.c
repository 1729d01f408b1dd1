/* Folded stacks: "main;parse;malloc 4096", a line per stack, for flame graph tools. */
#include "exporters.h"

#include "text_out.h"

/* The sign between frames cannot be part of a name. */
static void put_name(struct pgk_text_out *o, const char *name)
{
    for (; *name; name++)
        pgk_text_bytes(o, *name == ';' ? ":" : name, 1);
}

int pgk_export_folded(struct pgk_stacks *s, struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_text_out text;
    struct pgk_stack_path path = {0};
    int status = 0;
    pgk_text_to_sink(&text, out);
    for (size_t i = 0; i < s->stacks.n && !status; i++) {
        uint64_t value = pgk_stacks_value(s, i, s->shown_type);
        if (!value || !s->stacks.v[i].path)
            continue;
        status = pgk_stacks_path(s, i, &path, err);
        for (size_t f = 0; f < path.frames.n && !status; f++) {
            const struct pgk_stack_frame *frame = &s->frames.v[path.frames.v[f]];
            put_name(&text, pgk_stacks_text(s, s->funcs.v[frame->func].name));
            pgk_text_str(&text, f + 1 < path.frames.n ? ";" : " ");
        }
        pgk_text_u64(&text, value);
        pgk_text_lit(&text, "\n");
    }
    pgk_text_flush(&text);
    pgk_vec_free(&path.frames);
    return status;
}
