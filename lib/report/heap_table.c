/* A heap profile on a terminal: totals, then the heaviest contexts. */
#include "heap_view.h"

#include "pgokit/human.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

struct table {
    const struct pgk_heap *heap;
    const struct pgk_report_opts *opts;
    FILE *out;
    struct pgk_heap_totals totals;
    unsigned width;
};

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define MS(x) pgk_human_ms((char[PGK_HUMAN_SIZE]){0}, (x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

enum style { PLAIN, BOLD, DIM, LABEL };

static const char *on(const struct table *t, enum style s)
{
    static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[33m"};
    return t->opts->colour ? codes[s] : "";
}

static const char *off(const struct table *t)
{
    return t->opts->colour ? "\033[0m" : "";
}

static bool knows(uint32_t known, enum pgk_mib_id id)
{
    return known >> id & 1;
}

/* Share of the whole in per cent; 0 of 0 is 0. */
static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_labels(const struct table *t)
{
    uint64_t bytes = t->totals.v[PGK_MIB_TotalSize];
    for (enum pgk_mib_label l = 0; l < PGK_LABEL_NONE; l++)
        if (t->totals.label_contexts[l])
            fprintf(t->out, "  %s%-16s%s %s context%s, %s (%.1f %% of the bytes)\n", on(t, LABEL),
                    pgk_mib_label_name(l), off(t), COUNT(t->totals.label_contexts[l]),
                    t->totals.label_contexts[l] == 1 ? "" : "s", BYTES(t->totals.label_bytes[l]),
                    percent(t->totals.label_bytes[l], bytes));
}

static void print_totals(const struct table *t)
{
    const struct pgk_heap_totals *s = &t->totals;
    uint64_t objects = s->v[PGK_MIB_AllocCount], bytes = s->v[PGK_MIB_TotalSize];
    if (t->opts->title) {
        char text[160] = "";
        fprintf(t->out, "%s%s%s", on(t, BOLD), t->opts->title, off(t));
        if (t->opts->info)
            fprintf(t->out, ": %s", pgk_file_info_text(t->opts->info, text, sizeof text));
        fputs("\n\n", t->out);
    }
    fprintf(t->out, "  contexts         %s\n", COUNT(s->contexts));
    fprintf(t->out, "  objects          %s\n", COUNT(objects));
    fprintf(t->out, "  allocated        %s", BYTES(bytes));
    if (objects)
        fprintf(t->out, ", %s per object", BYTES((double)bytes / (double)objects));
    fputs("\n  accesses         ", t->out);
    if (!knows(s->known, PGK_MIB_TotalAccessCount))
        fputs("not in this profile (write it with --full-schema)\n", t->out);
    else
        fprintf(t->out, "%s, %.2f per byte\n", COUNT(s->v[PGK_MIB_TotalAccessCount]),
                bytes ? (double)s->v[PGK_MIB_TotalAccessCount] / (double)bytes : 0);
    if (objects && knows(s->known, PGK_MIB_TotalLifetime))
        fprintf(t->out, "  average life     %s\n",
                MS((double)s->v[PGK_MIB_TotalLifetime] / (double)objects));
    print_labels(t);
}

/* Template arguments of a long name say little in a table: "a<b<c>, d>::e" becomes
 * "a<...>::e". Operators that hold the signs are left alone. */
static void shorten_templates(char *name)
{
    char *to = name;
    int depth = 0;
    for (const char *s = name; *s; s++) {
        bool is_operator = s - name >= 8 && !strncmp(s - 8, "operator", 8);
        if (*s == '<' && !is_operator) {
            if (!depth++) {
                memcpy(to, "<...", 4);
                to += 4;
            }
        } else if (*s == '>' && depth && s[-1] != '-') {
            if (!--depth)
                *to++ = '>';
        } else if (!depth) {
            *to++ = *s;
        }
    }
    *to = 0;
}

/* "std::vector<...>::push_back", as wide as fits; malloc'ed. */
static char *function_text(const struct pgk_heap_frame *f, size_t width)
{
    char *text = *f->function ? pgk_demangle(f->function) : NULL;
    if (!text)
        text = *f->function ? strdup(f->function) : NULL;
    if (!text) {
        text = malloc(32);
        if (text)
            snprintf(text, 32, "function 0x%016llx", (unsigned long long)f->guid);
        return text;
    }
    /* "<...>" may be longer than what it stands for, so only long names are touched. */
    if (strlen(text) > width)
        shorten_templates(text);
    if (strlen(text) > width && width > 3)
        strcpy(text + width - 3, "...");
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?'; /* names come from files: no control codes to the terminal */
    return text;
}

static void place_text(char *buf, size_t size, const struct pgk_heap_frame *f)
{
    const char *slash = strrchr(f->file, '/'), *file = slash ? slash + 1 : f->file;
    uint32_t line = pgk_heap_frame_line(f);
    if (*file && line)
        snprintf(buf, size, "%s:%u", file, line);
    else
        snprintf(buf, size, "line +%u, column %u", f->line_offset, f->column);
    for (char *c = buf; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
}

static void print_address(const struct table *t, const struct pgk_heap_frame *f)
{
    fprintf(t->out, "      0x%llx in ", (unsigned long long)f->address);
    if (!f->build_id_size)
        fputs("no known module", t->out);
    else
        fputs("module ", t->out);
    for (size_t i = 0; i < f->build_id_size && i < 8; i++)
        fprintf(t->out, "%02x", f->build_id[i]);
    fputc('\n', t->out);
}

static void print_frame(const struct table *t, const struct pgk_heap_frame *f)
{
    char place[256];
    if (f->is_address) {
        print_address(t, f);
        return;
    }
    enum { INDENT = 6, PLACE = 30 };
    size_t width = t->width > INDENT + PLACE + 20 ? t->width - INDENT - PLACE : 20;
    char *name = function_text(f, width - 1);
    place_text(place, sizeof place, f);
    fprintf(t->out, "%*s%-*s%s%s%s%s\n", INDENT, "", (int)width, name ? name : "?", on(t, DIM),
            place, f->inlined ? " (inlined)" : "", off(t));
    free(name);
}

static void print_numbers(const struct table *t, size_t rank, const struct pgk_mib *m)
{
    uint64_t objects = m->v[PGK_MIB_AllocCount], bytes = m->v[PGK_MIB_TotalSize];
    enum pgk_mib_label label = pgk_mib_label(m);
    fprintf(t->out, "\n%s#%-3zu %s%s (%.1f %%)  %s object%s", on(t, BOLD), rank, BYTES(bytes),
            off(t), percent(bytes, t->totals.v[PGK_MIB_TotalSize]), COUNT(objects),
            objects == 1 ? "" : "s");
    if (knows(m->known, PGK_MIB_MinSize) && m->v[PGK_MIB_MinSize] != m->v[PGK_MIB_MaxSize])
        fprintf(t->out, " of %s to %s", BYTES(m->v[PGK_MIB_MinSize]), BYTES(m->v[PGK_MIB_MaxSize]));
    else if (objects)
        fprintf(t->out, " of %s", BYTES((double)bytes / (double)objects));
    if (knows(m->known, PGK_MIB_TotalAccessCount) && bytes)
        fprintf(t->out, "  %.2f accesses/B",
                (double)m->v[PGK_MIB_TotalAccessCount] / (double)bytes);
    if (knows(m->known, PGK_MIB_TotalLifetime) && objects)
        fprintf(t->out, "  life %s", MS((double)m->v[PGK_MIB_TotalLifetime] / (double)objects));
    if (label != PGK_LABEL_NONE)
        fprintf(t->out, "  %s%s%s", on(t, LABEL), pgk_mib_label_name(label), off(t));
    fputc('\n', t->out);
}

static int print_context(const struct table *t, size_t rank, size_t context, struct pgk_err *err)
{
    struct pgk_arena arena = {0};
    struct pgk_heap_frame *frames;
    size_t n;
    print_numbers(t, rank, pgk_heap_mib(t->heap, context));
    int status = pgk_heap_view_stack(t->heap, context, &arena, &frames, &n, err);
    if (!status) {
        size_t shown = t->opts->depth && t->opts->depth < n ? t->opts->depth : n;
        for (size_t i = 0; i < shown; i++)
            print_frame(t, &frames[i]);
        if (shown < n)
            fprintf(t->out, "      %s... %zu more frame%s%s\n", on(t, DIM), n - shown,
                    n - shown == 1 ? "" : "s", off(t));
    }
    pgk_arena_free(&arena);
    return status;
}

static void print_rules(const struct table *t)
{
    bool any = false;
    for (enum pgk_mib_label l = 0; l < PGK_LABEL_NONE; l++)
        if (t->totals.label_contexts[l]) {
            fprintf(t->out, "%s%s: %s\n", any ? "" : "\n", pgk_mib_label_name(l),
                    pgk_mib_label_rule(l));
            any = true;
        }
}

int pgk_report_heap_table(const struct pgk_heap *heap, const struct pgk_report_opts *opts,
                          FILE *out, struct pgk_err *err)
{
    struct table t = {.heap = heap, .opts = opts, .out = out,
                      .width = opts->width ? opts->width : 100};
    size_t *order, n;
    pgk_heap_totals(heap, &t.totals);
    PGK_TRY(pgk_heap_ranking(heap, opts, &order, &n, err));
    print_totals(&t);
    if (n)
        fprintf(out, "\n%s%zu of %s contexts, by %s%s\n", on(&t, BOLD), n,
                COUNT(t.totals.contexts),
                opts->sort == PGK_SORT_DENSITY    ? "accesses per byte"
                : opts->sort == PGK_SORT_LIFETIME ? "average lifetime"
                : opts->sort == PGK_SORT_COUNT    ? "objects"
                                                  : pgk_heap_sort_name(opts->sort),
                off(&t));
    int status = 0;
    for (size_t i = 0; i < n && !status; i++)
        status = print_context(&t, i + 1, order[i], err);
    print_rules(&t);
    pgk_mem_free(order);
    return status;
}
