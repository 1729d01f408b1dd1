/* The file format of speedscope (https://www.speedscope.app/file-format-schema.json): frames
 * once, then a profile per type of value with the stacks, outermost frame first. */
#include "exporters.h"

#include "json_out.h"
#include "pgokit/human.h"

#include <string.h>

static void put_frames(struct pgk_json *j, const struct pgk_stacks *s)
{
    pgk_json_object(j, "shared");
    pgk_json_array(j, "frames");
    for (size_t i = 0; i < s->frames.n; i++) {
        const struct pgk_stack_frame *frame = &s->frames.v[i];
        const struct pgk_stack_func *func = &s->funcs.v[frame->func];
        pgk_json_object(j, NULL);
        pgk_json_text(j, "name", pgk_stacks_text(s, func->name));
        if (func->file)
            pgk_json_text(j, "file", pgk_stacks_text(s, func->file));
        if (frame->line)
            pgk_json_number(j, "line", frame->line);
        if (frame->line && frame->column)
            pgk_json_number(j, "col", frame->column);
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
    pgk_json_end_object(j);
}

static int put_stacks(struct pgk_json *j, const struct pgk_stacks *s, struct pgk_err *err)
{
    struct pgk_stack_path path = {0};
    int status = 0;
    pgk_json_array(j, "samples");
    for (size_t i = 0; i < s->stacks.n && !status; i++) {
        status = pgk_stacks_path(s, i, &path, err);
        pgk_json_array(j, NULL);
        for (size_t f = 0; f < path.frames.n; f++)
            pgk_json_number(j, NULL, path.frames.v[f]);
        pgk_json_end_array(j);
    }
    pgk_json_end_array(j);
    pgk_vec_free(&path.frames);
    return status;
}

static int put_profile(struct pgk_json *j, const struct pgk_stacks *s, size_t type,
                       struct pgk_err *err)
{
    double sum = 0;
    pgk_json_object(j, NULL);
    pgk_json_text(j, "type", "sampled");
    pgk_json_text(j, "name", s->types[type].name);
    pgk_json_text(j, "unit", strcmp(s->types[type].unit, "bytes") ? "none" : "bytes");
    PGK_TRY(put_stacks(j, s, err));
    pgk_json_array(j, "weights");
    for (size_t i = 0; i < s->stacks.n; i++) {
        pgk_json_number(j, NULL, pgk_stacks_value(s, i, type));
        sum += (double)pgk_stacks_value(s, i, type);
    }
    pgk_json_end_array(j);
    pgk_json_number(j, "startValue", 0);
    pgk_json_digits(j, "endValue", sum, 17);
    pgk_json_end_object(j);
    return 0;
}

int pgk_export_speedscope(struct pgk_stacks *s, struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_text_out text;
    struct pgk_json j;
    char title[1024];
    pgk_text_to_sink(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_TIGHT);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    pgk_json_text(&j, "exporter", "pgokit " PGK_VERSION);
    pgk_json_text(&j, "name", pgk_human_text(title, sizeof title, s->title ? s->title : ""));
    pgk_json_number(&j, "activeProfileIndex", 0);
    put_frames(&j, s);
    pgk_json_array(&j, "profiles");
    for (size_t type = 0; type < s->n_types; type++)
        PGK_TRY(put_profile(&j, s, type, err));
    pgk_json_end_array(&j);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
    return 0;
}
