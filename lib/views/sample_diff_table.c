/* How two sample profiles differ, for people. */
#include "demangle.h"
#include "mem.h"
#include "fail.h"
#include "opts.h"
#include "pgokit/human.h"
#include "pgokit/report.h"

#include <string.h>

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

/* The name at the start of `s`, `len` bytes long, as a person reads it. */
static const char *name_text(const struct view *v, const char *s, size_t len, char safe[512])
{
    char *name = pgk_mem_alloc(len + 1, 1);
    if (name)
        snprintf(name, len + 1, "%.*s", (int)len, s);
    char *readable = name && !v->opts->linkage_names ? pgk_demangle(name) : NULL;
    pgk_human_text(safe, 512, readable ? readable : name ? name : "");
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

/* "main:3 @ parse": the function, then its callers, one a line. */
static void put_context(const struct view *v, const char *text, int indent)
{
    char safe[512];
    const char *end = text + strlen(text), *frame = end;
    for (bool leaf = true; frame > text; leaf = false) {
        const char *stop = leaf ? end : frame - strlen(" @ ");
        for (frame = stop; frame > text; frame--)
            if (frame - text >= 3 && !memcmp(frame - 3, " @ ", 3))
                break;
        size_t n = name_length(frame, stop);
        if (leaf)
            fprintf(v->out, "%s\n", name_text(v, frame, n, safe));
        else
            fprintf(v->out, "%*s<- %s%.*s\n", indent, "", name_text(v, frame, n, safe),
                    (int)(stop - frame - (ptrdiff_t)n), frame + n);
    }
}

static void put_change(const struct view *v, const struct pgk_sample_change *c)
{
    char b[PGK_HUMAN_SIZE], t[PGK_HUMAN_SIZE], safe[512];
    fprintf(v->out, "%+7.2f %% %7.2f %% %7.2f %% %8.2f %% %15s %15s  ",
            100 * (c->test_share - c->base_share), 100 * c->base_share, 100 * c->test_share,
            100 * c->similarity, pgk_human_count(b, c->base_samples),
            pgk_human_count(t, c->test_samples));
    if (v->opts->contexts)
        put_context(v, c->function, 75);
    else
        fprintf(v->out, "%s\n", name_text(v, c->function, strlen(c->function), safe));
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
    fprintf(out, "\n%9s %9s %9s %10s %15s %15s  %s\n", "moved", "base", "test", "similar",
            "base samples", "test samples",
            opts->contexts ? "function and callers" : "function");
    for (size_t i = 0; i < n && (!opts->top || i < opts->top); i++)
        put_change(&v, &changes[i]);
    return 0;
}
