/* Call stacks on a terminal. */
#include "heap_stack_text.h"

#include "demangle.h"
#include "mem.h"
#include "path.h"
#include "pgokit/human.h"
#include "heap_view.h"

#include <stdlib.h>
#include <string.h>

const char *pgk_style_on(const struct pgk_text_style *s, enum pgk_style style)
{
    static const char *const codes[] = {
        [PGK_STYLE_BOLD] = "\033[1m", [PGK_STYLE_DIM] = "\033[2m", [PGK_STYLE_LABEL] = "\033[33m"};
    return s->colour ? codes[style] : "";
}

const char *pgk_style_off(const struct pgk_text_style *s)
{
    return s->colour ? "\033[0m" : "";
}

/* Names come from files: no control codes to the terminal. */
static char *tame(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return text;
}

/* "std::vector<...>::push_back", as wide as fits; 0: whole. */
static char *fit_name(char *text, size_t width)
{
    return tame(pgk_fit_name(text, width));
}

static char *function_text(const struct pgk_heap_frame *f, size_t width)
{
    char *text = *f->function ? pgk_demangle(f->function) : NULL;
    if (!text)
        text = *f->function ? pgk_mem_strdup(f->function) : NULL;
    if (text)
        return fit_name(text, width);
    text = pgk_mem_alloc(32, 1);
    if (text)
        snprintf(text, 32, "function 0x%016llx", (unsigned long long)f->guid);
    return text;
}

void pgk_print_type_name(FILE *out, const char *type, unsigned width, unsigned at)
{
    enum { SIZE = 4096, NARROWEST = 16 };
    char safe[SIZE];
    pgk_human_text(safe, sizeof safe, type);
    char *copy = width ? pgk_mem_strdup(safe) : NULL;
    if (copy)
        copy = fit_name(copy, width > at + NARROWEST ? width - at : NARROWEST);
    fputs(copy ? copy : safe, out);
    pgk_mem_free(copy);
}

static void place_text(char *buf, size_t size, const struct pgk_heap_frame *f)
{
    const char *file = pgk_base_name(f->file);
    uint32_t line = pgk_heap_frame_line(f);
    if (*file && line)
        snprintf(buf, size, "%s:%u", file, line);
    else if (!*file && !f->line_offset && !f->column)
        *buf = 0; /* a symbol has a name alone */
    else if (*file && f->decl_line)
        snprintf(buf, size, "%s, no line", file); /* code that the compiler gave none */
    else
        snprintf(buf, size, "line %+d, column %u", (int)f->line_offset, f->column);
    tame(buf);
}

enum { INDENT = 6, USUAL_WIDTH = 100 };

static void print_address(const struct pgk_text_style *s, const struct pgk_heap_frame *f)
{
    char text[PGK_ADDRESS_TEXT], safe[PGK_ADDRESS_TEXT], id[2 * 8 + 1];
    pgk_human_text(safe, sizeof safe, pgk_view_address(text, f));
    fprintf(s->out, "%*s%s", INDENT, "",
            pgk_human_fit(safe, s->width > INDENT ? s->width - INDENT : 0));
    if (!*f->module_path && f->build_id_size)
        fprintf(s->out, " in module %s",
                pgk_human_hex(id, sizeof id, f->build_id, f->build_id_size));
    else if (!*f->module_path)
        fputs(" in no known module", s->out);
    fputc('\n', s->out);
}

static void print_frame(const struct pgk_text_style *s, const struct pgk_heap_frame *f)
{
    char place[256];
    if (f->is_address) {
        print_address(s, f);
        return;
    }
    enum { PLACE = 30, LEAST = 20 };
    place_text(place, sizeof place, f);
    if (s->width)
        pgk_human_fit(place, s->width / 2);
    const size_t line = s->width ? s->width : USUAL_WIDTH;
    const size_t whole = strlen(place) + (f->inlined ? strlen(" (inlined)") : 0);
    const size_t after = INDENT + (s->width && whole > PLACE ? whole : PLACE);
    const size_t width = line > after + LEAST ? line - after : LEAST;
    char *name = function_text(f, s->width ? width - 1 : 0);
    if (!s->width && name && *place && strlen(name) >= width)
        fprintf(s->out, "%*s%s  %s%s%s%s\n", INDENT, "", name, pgk_style_on(s, PGK_STYLE_DIM),
                place, f->inlined ? " (inlined)" : "", pgk_style_off(s));
    else
        fprintf(s->out, "%*s%-*s%s%s%s%s\n", INDENT, "", *place ? (int)width : 0,
                name ? name : "?", pgk_style_on(s, PGK_STYLE_DIM), place,
                f->inlined ? " (inlined)" : "", pgk_style_off(s));
    pgk_mem_free(name);
}

/* Frames that come again and again, as a recursion does: how many there are in a group from `at` on
 * that stands there three times at least, and how often. */
struct repeated {
    size_t group, times;
};

static bool is_same_frame(const struct pgk_heap_frame *a, const struct pgk_heap_frame *b)
{
    return a->is_address == b->is_address && a->inlined == b->inlined && a->guid == b->guid &&
           a->function == b->function && a->file == b->file && a->line_offset == b->line_offset &&
           a->column == b->column && a->address == b->address && a->build_id == b->build_id;
}

static bool is_same_group(const struct pgk_heap_frame *frames, size_t group)
{
    for (size_t i = 0; i < group; i++)
        if (!is_same_frame(&frames[i], &frames[i + group]))
            return false;
    return true;
}

static struct repeated repeated_at(const struct pgk_heap_frame *frames, size_t n, size_t at)
{
    enum { GROUP_MAX = 16, LEAST = 3 };
    for (size_t group = 1; group <= GROUP_MAX && at + LEAST * group <= n; group++) {
        size_t times = 1;
        while (at + (times + 1) * group <= n &&
               is_same_group(frames + at + (times - 1) * group, group))
            times++;
        if (times >= LEAST)
            return (struct repeated){group, times};
    }
    return (struct repeated){1, 1};
}

static void print_note(const struct pgk_text_style *s, const char *text)
{
    fprintf(s->out, "      %s... %s%s\n", pgk_style_on(s, PGK_STYLE_DIM), text,
            pgk_style_off(s));
}

/* What repeats is written once. */
static void print_frames(const struct pgk_text_style *s, const struct pgk_heap_frame *frames,
                         size_t n, bool cut)
{
    char text[120];
    size_t i = 0, lines = 0;
    while (i < n && (!s->depth || lines < s->depth)) {
        const struct repeated r = repeated_at(frames, n, i);
        size_t k = 0;
        while (k < r.group && (!s->depth || lines < s->depth)) {
            print_frame(s, &frames[i + k++]);
            lines++;
        }
        i += k;
        if (k < r.group || r.times == 1)
            continue;
        snprintf(text, sizeof text, "%s %zu times more",
                 r.group == 1 ? "this frame" : "these frames", r.times - 1);
        print_note(s, text);
        i += (r.times - 1) * r.group;
    }
    if (i < n)
        snprintf(text, sizeof text, "%zu more frame%s%s", n - i, pgk_plural(n - i),
                 cut ? ", and those that were not kept" : "");
    else
        snprintf(text, sizeof text, "the stack goes on, but was cut here");
    if (i < n || cut)
        print_note(s, text);
}

int pgk_heap_print_stack(const struct pgk_heap *heap, size_t context,
                         const struct pgk_text_style *s, struct pgk_err *err)
{
    struct pgk_arena arena = {0};
    struct pgk_heap_frame *frames;
    size_t n;
    int status = pgk_heap_view_stack(heap, context, &arena, &frames, &n, err);
    if (!status)
        print_frames(s, frames, n, pgk_heap_value(heap, context, PGK_MIB_CutSize) > 0);
    pgk_arena_free(&arena);
    return status;
}
