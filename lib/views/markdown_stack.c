/* Call stacks of heap profiles in cells of Markdown. */
#include "markdown_stack.h"

#include "demangle.h"
#include "markdown_out.h"
#include "mem.h"
#include "path.h"

enum { LONG_NAME = 80, MODULE_DIGITS = 16 };

static void put_name(struct pgk_text_out *o, const char *name)
{
    char *shorter = strlen(name) > LONG_NAME ? pgk_shorten_templates(name) : NULL;
    pgk_md_code(o, shorter ? shorter : name);
    pgk_mem_free(shorter);
}

static void put_place(struct pgk_text_out *o, const struct pgk_heap_frames *t, uint32_t node)
{
    const struct pgk_view_frame *frame = pgk_frames_at(t, node);
    const struct pgk_view_func *func = pgk_frames_func(t, node);
    const char *file = pgk_base_name(pgk_frames_text(t, func->file));
    char text[512];
    if (func->has_file)
        return;
    if (frame->is_address)
        snprintf(text, sizeof text, "%.*s", MODULE_DIGITS, pgk_frames_text(t, func->module));
    else if (*file && frame->line)
        snprintf(text, sizeof text, "%s:%u", file, frame->line);
    else if (!*file && (frame->line_offset || frame->column))
        snprintf(text, sizeof text, "line %+d, column %u", (int)frame->line_offset, frame->column);
    else
        return;
    pgk_text_lit(o, " ");
    pgk_md_code(o, text);
}

void pgk_md_stack(struct pgk_text_out *o, const struct pgk_heap_frames *t, uint32_t stack,
                  size_t depth)
{
    size_t shown = 0;
    uint32_t node = pgk_frames_site(t, stack);
    for (; node && (!depth || shown < depth); node = t->stacks.nodes.v[node].parent) {
        if (shown++)
            pgk_text_lit(o, "<br>");
        put_name(o, pgk_frames_text(t, pgk_frames_func(t, node)->name));
        put_place(o, t, node);
    }
    if (node)
        pgk_text_lit(o, "<br>...");
}
