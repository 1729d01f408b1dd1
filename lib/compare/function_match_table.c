/* A match of functions for people: on a terminal, or as tables of Markdown. */
#include "match_view.h"

#include "opts.h"
#include "pgokit/human.h"

#include <inttypes.h>
#include <string.h>

#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static const char *const meanings[PGK_MATCH_LEVELS] = {
    [PGK_MATCH_EXACT] = "as the profile has it",
    [PGK_MATCH_INLINING] = "a call at its place, inlined otherwise",
    [PGK_MATCH_LINE_ZERO] = "without code of its own in one of both builds",
    [PGK_MATCH_MOVED] = "at another line or probe, by the calls around it, or discriminator",
    [PGK_MATCH_REROUTED] = "of a function by another name",
    [PGK_MATCH_AMBIGUOUS] = "several lines fit",
    [PGK_MATCH_FUNCTIONS] = "the function is there, and has changed",
    [PGK_MATCH_GONE] = "the function is gone",
};

struct table {
    const struct pgk_function_match *m;
    struct pgk_function_totals all;
    struct pgk_match_view view;
};

static struct pgk_function_totals totals_of(const struct table *t, enum pgk_match_level level)
{
    struct pgk_function_totals totals = {.struct_size = sizeof totals};
    pgk_function_totals(t->m, level, &totals);
    return totals;
}

static void print_title(const struct table *t)
{
    char rest[160];
    size_t found = 0;
    for (enum pgk_match_level l = 0; l <= PGK_MATCH_FOUND; l++)
        found += totals_of(t, l).functions;
    snprintf(rest, sizeof rest, "most of %s of %s functions", COUNT(found),
             COUNT(t->all.functions));
    pgk_match_view_title(&t->view, pgk_function_match_percent(t->m),
                         t->all.samples ? "the samples" : "the places", rest);
}

static void print_levels(const struct table *t)
{
    bool md = t->view.opts.markdown;
    if (md)
        fputs("| level | functions | places | samples | share | meaning |\n"
              "|---|--:|--:|--:|--:|---|\n", t->view.style.out);
    else
        fprintf(t->view.style.out, "  %-15s %9s %9s %12s\n", "", "functions", "places", "samples");
    for (enum pgk_match_level level = 0; level < PGK_MATCH_LEVELS; level++) {
        struct pgk_function_totals l = totals_of(t, level);
        const char *format = md ? "| %s | %s | %s | %s | %.1f %%"
                                : "  %-15s %9s %9s %12s %7.1f %%";
        if (!l.places)
            continue;
        fprintf(t->view.style.out, format, pgk_match_level_name(level), COUNT(l.functions),
                COUNT(l.places), COUNT(l.samples), pgk_match_share(l.samples, t->all.samples));
        pgk_match_view_meaning(&t->view, meanings[level]);
    }
}

/* "probe 12 of checksum 0x1d" and "13 of 0x2e"; counters have no probes. */
static void put_checksums(const struct pgk_function_change *c, char *before, char *now, size_t size)
{
    if (c->line)
        snprintf(before, size, "probe %" PRIu32 " of checksum 0x%" PRIx64, c->line, c->checksum);
    else
        snprintf(before, size, "checksum 0x%" PRIx64, c->checksum);
    if (!c->now_checksum)
        snprintf(now, size, "not found");
    else if (c->has_now)
        snprintf(now, size, "%" PRIu32 " of 0x%" PRIx64, c->now_line, c->now_checksum);
    else
        snprintf(now, size, "0x%" PRIx64, c->now_checksum);
}

/* "book.c:+3.1"; the line of the file where it is known. */
static void put_place(const struct pgk_function_change *c, char *before, char *now, size_t size)
{
    char safe[128];
    const char *slash = strrchr(c->file, '/');
    pgk_human_text(safe, sizeof safe, slash ? slash + 1 : c->file);
    if (c->by_checksum) {
        put_checksums(c, before, now, size);
        return;
    }
    if (c->line_zero)
        snprintf(before, size, "line 0");
    else if (!c->discriminator)
        snprintf(before, size, "line +%" PRIu32, c->line);
    else
        snprintf(before, size, "line +%" PRIu32 ".%" PRIu32, c->line, c->discriminator);
    if (!c->has_now)
        snprintf(now, size, "not found");
    else if (c->decl_line && *safe)
        snprintf(now, size, "+%" PRIu32 ", %s:%" PRIu32, c->now_line, safe,
                 c->decl_line + c->now_line);
    else
        snprintf(now, size, "+%" PRIu32, c->now_line);
}

static void print_change(struct table *t, const struct pgk_function_change *c)
{
    struct pgk_match_view *v = &t->view;
    char before[192], now[192];
    const char *function = pgk_match_view_name(v, c->function, c->guid);
    const char *callee = c->callee ? pgk_match_view_name(v, c->callee, c->callee_guid) : "";
    const char *renamed = *c->now_function ? pgk_match_view_name(v, c->now_function, 0) : "";
    const char *as = *renamed ? ", now " : "";
    put_place(c, before, now, sizeof before);
    if (v->opts.markdown)
        fprintf(v->style.out, "| %s | %s | %s | `%s`%s%s%s%s | %s%s%s | %s | %s |\n",
                COUNT(c->samples), COUNT(c->places), pgk_match_level_name(c->level), function, as,
                *renamed ? "`" : "", renamed, *renamed ? "`" : "", *callee ? "`" : "", callee,
                *callee ? "`" : "", before, now);
    else
        fprintf(v->style.out, "  %12s %9s  %s%s%s\n      %s%s%s%s%s\n      %s -> %s\n",
                COUNT(c->samples), COUNT(c->places), pgk_style_on(&v->style, PGK_STYLE_LABEL),
                pgk_match_level_name(c->level), pgk_style_off(&v->style), function, as, renamed,
                *callee ? " calls " : "", callee, before, now);
}

static void print_changes(struct table *t)
{
    size_t all = pgk_function_changes(t->m), n = pgk_match_top(&t->view.opts, all);
    if (!n)
        return;
    if (t->view.opts.markdown)
        fputs("\n| samples | places | level | function | calls | profile | build |\n"
              "|--:|--:|---|---|---|---|---|\n", t->view.style.out);
    else
        pgk_match_view_heading(&t->view,
                               "Functions and calls that changed, with their heaviest place");
    for (size_t i = 0; i < n; i++) {
        struct pgk_function_change c = {.struct_size = sizeof c};
        pgk_function_change(t->m, i, &c);
        print_change(t, &c);
    }
    pgk_match_view_left(&t->view, all - n);
}

int pgk_function_match_print(const struct pgk_function_match *match,
                             const struct pgk_match_print_opts *given, FILE *out,
                             struct pgk_err *err)
{
    struct table t = {.m = match};
    PGK_TRY(PGK_OPTS_TAKE(&t.view.opts, given, err));
    pgk_match_view_begin(&t.view, out);
    if (t.view.opts.json) {
        pgk_function_match_json(match, &t.view.opts, out);
        return 0;
    }
    t.all = totals_of(&t, PGK_MATCH_LEVELS);
    print_title(&t);
    print_levels(&t);
    print_changes(&t);
    return pgk_match_view_end(&t.view, err);
}
