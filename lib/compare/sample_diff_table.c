/* Prints the differences of two sample profiles: on a terminal, and in Markdown. */
#include "demangle.h"
#include "fail.h"
#include "markdown_out.h"
#include "mem.h"
#include "opts.h"
#include "pgokit/human.h"
#include "pgokit/report.h"

#include <string.h>

#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

struct view {
    const struct pgk_sample_diff_print_opts *opts;
    FILE *out;
};

static void put_split(const struct view *v, const char *what, uint64_t both, uint64_t base,
                      uint64_t test)
{
    char b[PGK_HUMAN_SIZE], x[PGK_HUMAN_SIZE], y[PGK_HUMAN_SIZE];
    uint64_t all = both + base + test;
    fprintf(v->out, "%-16s%7.3f %%  in both %s, in base only %s, in test only %s\n", what,
            all ? 100 * (double)both / (double)all : 0, pgk_human_count(b, both),
            pgk_human_count(x, base), pgk_human_count(y, test));
}

static void put_totals(const struct view *v, const struct pgk_sample_overlap *o)
{
    char b[PGK_HUMAN_SIZE], t[PGK_HUMAN_SIZE];
    fprintf(v->out, "similarity      %7.3f %%  base has %s samples, test %s\n", 100 * o->similarity,
            pgk_human_count(b, o->base_samples), pgk_human_count(t, o->test_samples));
    fprintf(v->out, "sample overlap  %7.3f %%  in base only %.3f %%, in test only %.3f %%\n",
            100 * o->sample_overlap, 100 * o->base_unique, 100 * o->test_unique);
    put_split(v, "functions", o->functions_both, o->functions_base, o->functions_test);
    put_split(v, "hot functions", o->hot_functions_both, o->hot_functions_base,
              o->hot_functions_test);
    put_split(v, "hot lines", o->hot_lines_both, o->hot_lines_base, o->hot_lines_test);
}

enum { NAME_SIZE = 4096, NAME_LEAST = 16 };

/* The name at the start of `s`, `len` bytes long, as a person reads it, in so many columns; 0: any
 * number. */
static const char *name_text(const struct pgk_sample_diff_print_opts *opts, const char *s,
                             size_t len, size_t columns, char safe[NAME_SIZE])
{
    char *name = pgk_mem_alloc(len + 1, 1);
    if (name)
        snprintf(name, len + 1, "%.*s", (int)len, s);
    char *readable = name && !opts->linkage_names ? pgk_demangle(name) : NULL;
    if (readable)
        readable = pgk_fit_name(readable, columns);
    else if (name)
        name = pgk_fit_name(name, columns);
    pgk_human_text(safe, NAME_SIZE, readable ? readable : name ? name : "");
    pgk_mem_free(readable);
    pgk_mem_free(name);
    return safe;
}

/* A frame is a function, and but for the last one where it calls the next. */
static size_t name_length(const char *frame, const char *end)
{
    const char *colon = memchr(frame, ':', (size_t)(end - frame));
    return (size_t)((colon ? colon : end) - frame);
}

/* "main:3 @ parse": a frame of it, the function first, then its callers. */
struct frame {
    const char *v, *end;
    size_t name_size;
    bool leaf;
};

/* Steps to the caller, from a zeroed frame to the function; false past the last one. */
static bool next_frame(const char *context, struct frame *f)
{
    f->leaf = !f->v;
    if (f->v == context)
        return false;
    f->end = f->leaf ? context + strlen(context) : f->v - strlen(" @ ");
    for (f->v = f->end; f->v > context; f->v--)
        if (f->v - context >= 3 && !memcmp(f->v - 3, " @ ", 3))
            break;
    f->name_size = name_length(f->v, f->end);
    return true;
}

static size_t columns_after(const struct view *v, unsigned at)
{
    const unsigned width = v->opts->width;
    return !width ? 0 : width > at + NAME_LEAST ? width - at : NAME_LEAST;
}

/* Callers stand below the function, one a line. */
static void put_context(const struct view *v, const char *text, unsigned indent)
{
    char safe[NAME_SIZE];
    for (struct frame f = {0}; next_frame(text, &f);) {
        const unsigned place = (unsigned)(f.end - f.v) - (unsigned)f.name_size;
        const char *name =
            name_text(v->opts, f.v, f.name_size, columns_after(v, indent + 3 + place), safe);
        if (f.leaf)
            fprintf(v->out, "%s\n", name);
        else
            fprintf(v->out, "%*s<- %s%.*s\n", (int)indent, "", name, (int)place,
                    f.v + f.name_size);
    }
}

/* Numbers take 74 columns; where this leaves too few for names, these have lines of their own. */
enum { NAME_AT = 75, NAME_BELOW = 4, ROW_LEAST = 110 };

static void put_change(const struct view *v, const struct pgk_sample_change *c)
{
    char b[PGK_HUMAN_SIZE], t[PGK_HUMAN_SIZE], safe[NAME_SIZE];
    const bool below = v->opts->width && v->opts->width < ROW_LEAST;
    const unsigned at = below ? NAME_BELOW : NAME_AT;
    fprintf(v->out, "%+7.2f %% %7.2f %% %7.2f %% %8.2f %% %15s %15s",
            100 * (c->test_share - c->base_share), 100 * c->base_share, 100 * c->test_share,
            100 * c->similarity, pgk_human_count(b, c->base_samples),
            pgk_human_count(t, c->test_samples));
    fprintf(v->out, below ? "\n%*s" : "%*s", below ? NAME_BELOW : 2, "");
    if (v->opts->contexts)
        put_context(v, c->function, at);
    else
        fprintf(v->out, "%s\n", name_text(v->opts, c->function, strlen(c->function),
                                          columns_after(v, at), safe));
}

int pgk_sample_diff_print_table(const struct pgk_sample_diff *diff,
                                const struct pgk_sample_diff_print_opts *given, FILE *out,
                                struct pgk_err *err)
{
    struct pgk_sample_diff_print_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct view v = {.opts = opts, .out = out};
    size_t n;
    const struct pgk_sample_change *changes = pgk_sample_diff_changes(diff, &n);
    put_totals(&v, pgk_sample_diff_overlap(diff));
    fprintf(out, "\n%s%9s %9s %9s %10s %15s %15s", opts->colour ? "\033[1m" : "", "moved", "base",
            "test", "similar", "base samples", "test samples");
    if (!opts->width || opts->width >= ROW_LEAST)
        fprintf(out, "  %s", opts->contexts ? "function and callers" : "function");
    fprintf(out, "%s\n", opts->colour ? "\033[0m" : "");
    for (size_t i = 0; i < n && (!opts->top || i < opts->top); i++)
        put_change(&v, &changes[i]);
    return 0;
}

static void put_split_row(struct pgk_text_out *o, const char *what, uint64_t both, uint64_t base,
                          uint64_t test)
{
    uint64_t all = both + base + test;
    pgk_text_printf(o, "| %s | %.3f %% | %s | %s | %s |\n", what,
                    all ? 100 * (double)both / (double)all : 0, COUNT(both), COUNT(base),
                    COUNT(test));
}

static void put_common(const struct pgk_sample_overlap *o,
                       const struct pgk_sample_diff_print_opts *opts, struct pgk_text_out *out)
{
    pgk_text_lit(out, "| | before | now |\n|---|--:|--:|\n| profile | ");
    pgk_md_code(out, opts->base_title ? opts->base_title : "base");
    pgk_text_lit(out, " | ");
    pgk_md_code(out, opts->test_title ? opts->test_title : "test");
    pgk_text_printf(out, " |\n| samples | %s | %s |\n\n", COUNT(o->base_samples),
                    COUNT(o->test_samples));
    pgk_text_lit(out, "| | in common | in both | before only | now only |\n"
                      "|---|--:|--:|--:|--:|\n");
    pgk_text_printf(out, "| similarity | %.3f %% | | | |\n", 100 * o->similarity);
    pgk_text_printf(out, "| samples | %.3f %% | | %.3f %% | %.3f %% |\n", 100 * o->sample_overlap,
                    100 * o->base_unique, 100 * o->test_unique);
    put_split_row(out, "functions", o->functions_both, o->functions_base, o->functions_test);
    put_split_row(out, "hot functions", o->hot_functions_both, o->hot_functions_base,
                  o->hot_functions_test);
    put_split_row(out, "hot lines", o->hot_lines_both, o->hot_lines_base, o->hot_lines_test);
}

static void put_row(const struct pgk_sample_change *c,
                    const struct pgk_sample_diff_print_opts *opts, struct pgk_text_out *out)
{
    char safe[NAME_SIZE];
    pgk_text_printf(out, "| %+.2f %% | %.2f %% | %.2f %% | %s | %s | ",
                    100 * (c->test_share - c->base_share), 100 * c->base_share,
                    100 * c->test_share, COUNT(c->base_samples), COUNT(c->test_samples));
    if (!opts->contexts)
        pgk_md_code(out, name_text(opts, c->function, strlen(c->function), 0, safe));
    for (struct frame f = {0}; opts->contexts && next_frame(c->function, &f);) {
        if (!f.leaf)
            pgk_text_lit(out, "<br>");
        pgk_md_code(out, name_text(opts, f.v, f.name_size, 0, safe));
    }
    pgk_text_lit(out, " |\n");
}

int pgk_sample_diff_print_markdown(const struct pgk_sample_diff *diff,
                                   const struct pgk_sample_diff_print_opts *given, FILE *out,
                                   struct pgk_err *err)
{
    struct pgk_sample_diff_print_opts taken, *opts = &taken;
    struct pgk_text_out text;
    size_t n;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    const struct pgk_sample_change *changes = pgk_sample_diff_changes(diff, &n);
    size_t shown = 0, top = opts->top && opts->top < n ? opts->top : n;
    pgk_text_to_file(&text, out);
    pgk_text_lit(&text, "## Sample profiles compared\n\n");
    put_common(pgk_sample_diff_overlap(diff), opts, &text);
    for (; shown < top && changes[shown].base_share != changes[shown].test_share; shown++) {
        if (!shown)
            pgk_text_printf(&text, "\n### What moved most\n\n| moved | share before | share now | "
                                   "samples before | samples now | %s |\n"
                                   "|--:|--:|--:|--:|--:|---|\n",
                            opts->contexts ? "function and callers" : "function");
        put_row(&changes[shown], opts, &text);
    }
    pgk_text_flush(&text);
    return 0;
}
