/* Call stacks of heap profiles in cells of Markdown. */
#include "markdown_stack.h"

#include "demangle.h"
#include "markdown_out.h"
#include "mem.h"
#include "path.h"

enum { LONG_NAME = 80, MODULE_DIGITS = 16, PLACE_SIZE = 512 };

int pgk_md_stacks_init(struct pgk_md_stacks *s, const struct pgk_heap_frames *frames, size_t depth,
                       struct pgk_err *err)
{
    *s = (struct pgk_md_stacks){.frames = frames, .depth = depth};
    if (pgk_stack_tree_init(&s->callers) && pgk_vec_push(&s->branches, 0))
        return 0;
    pgk_md_stacks_free(s);
    return pgk_fail_nomem(err);
}

void pgk_md_stacks_free(struct pgk_md_stacks *s)
{
    pgk_intern_free(&s->shown);
    pgk_stack_tree_free(&s->callers);
    pgk_vec_free(&s->branches);
    pgk_vec_free(&s->path);
    pgk_vec_free(&s->chosen);
}

/* What is known of where a frame is; "" if nothing is. */
static const char *place(char text[PLACE_SIZE], const struct pgk_heap_frames *t, uint32_t node)
{
    const struct pgk_view_frame *frame = pgk_frames_at(t, node);
    const struct pgk_view_func *func = pgk_frames_func(t, node);
    const char *file = pgk_base_name(pgk_frames_text(t, func->file));
    *text = '\0';
    if (func->has_file)
        return text;
    if (frame->is_address)
        snprintf(text, PLACE_SIZE, "%.*s", MODULE_DIGITS, pgk_frames_text(t, func->module));
    else if (*file && frame->line)
        snprintf(text, PLACE_SIZE, "%s:%u", file, frame->line);
    else if (!*file && (frame->line_offset || frame->column))
        snprintf(text, PLACE_SIZE, "line %+d, column %u", (int)frame->line_offset, frame->column);
    return text;
}

/* Frames that look the same have one number, so that no cell shows a difference nobody sees. */
static uint32_t look(struct pgk_md_stacks *s, uint32_t node)
{
    char text[PLACE_SIZE], key[PLACE_SIZE + 16];
    int n = snprintf(key, sizeof key, "%u %s", pgk_frames_func(s->frames, node)->name,
                     place(text, s->frames, node));
    uint32_t id = pgk_intern(&s->shown, key, (size_t)n);
    s->failed |= id == PGK_INDEX_NONE;
    return id;
}

/* The caller `look` of what `at` is, which becomes a new branch if it is one. */
static uint32_t step(struct pgk_md_stacks *s, uint32_t at, uint32_t look_of_caller)
{
    size_t before = s->callers.nodes.n;
    uint32_t next = pgk_stack_push(&s->callers, at, look_of_caller);
    if (next == PGK_NODE_NONE) {
        s->failed = true;
        return 0;
    }
    if (s->callers.nodes.n > before) {
        s->branches.v[at]++;
        s->failed |= !pgk_vec_push(&s->branches, 0);
    }
    return s->failed ? 0 : next;
}

static void walk_path(struct pgk_md_stacks *s, uint32_t stack)
{
    const struct pgk_heap_frames *t = s->frames;
    s->path.n = 0;
    for (uint32_t node = pgk_frames_site(t, stack); node; node = t->stacks.nodes.v[node].parent)
        s->failed |= !pgk_vec_push(&s->path, node);
}

void pgk_md_stacks_add(struct pgk_md_stacks *s, uint32_t stack)
{
    uint32_t at = 0;
    if (!s->depth)
        return;
    walk_path(s, stack);
    for (size_t i = 0; i < s->path.n && !s->failed; i++)
        at = step(s, at, look(s, s->path.v[i]));
    if (!s->failed)
        step(s, at, PGK_INDEX_NONE - 1);
}

static size_t choose(struct pgk_md_stacks *s, size_t i)
{
    bool was = s->chosen.v[i];
    s->chosen.v[i] = true;
    return !was;
}

/* Which frames of the path are shown, of more than a cell has. */
static void choose_frames(struct pgk_md_stacks *s)
{
    size_t left = s->depth - choose(s, 0), last = 0;
    uint32_t at = 0;
    for (size_t i = 0; i < s->path.n && !s->failed; i++) {
        if (i && left && s->branches.v[at] > 1) {
            left -= choose(s, i);
            last = i;
        }
        at = step(s, at, look(s, s->path.v[i]));
    }
    if (s->branches.v[at] > 1) /* others go on where this one ends */
        last = s->path.n - 1;
    for (size_t i = last + 1; i < s->path.n && left; i++)
        left -= choose(s, i);
    for (size_t i = last; i && left; i--)
        left -= choose(s, i);
}

static void put_frame(struct pgk_text_out *o, const struct pgk_heap_frames *t, uint32_t node)
{
    char text[PLACE_SIZE];
    const char *name = pgk_frames_text(t, pgk_frames_func(t, node)->name);
    char *shorter = strlen(name) > LONG_NAME ? pgk_shorten_templates(name) : NULL;
    pgk_md_code(o, shorter ? shorter : name);
    pgk_mem_free(shorter);
    if (*place(text, t, node)) {
        pgk_text_lit(o, " ");
        pgk_md_code(o, text);
    }
}

void pgk_md_stacks_put(struct pgk_md_stacks *s, uint32_t stack, struct pgk_text_out *o)
{
    walk_path(s, stack);
    bool all = !s->depth || s->path.n <= s->depth;
    s->chosen.n = 0;
    for (size_t i = 0; i < s->path.n && !s->failed; i++)
        s->failed |= !pgk_vec_push(&s->chosen, all);
    if (!all && !s->failed)
        choose_frames(s);
    for (size_t i = 0; i < s->path.n && !s->failed; i++) {
        if (!s->chosen.v[i] && !s->chosen.v[i - 1])
            continue;
        if (i)
            pgk_text_lit(o, "<br>");
        if (s->chosen.v[i])
            put_frame(o, s->frames, s->path.v[i]);
        else
            pgk_text_lit(o, "...");
    }
}
