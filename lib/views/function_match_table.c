/* A match of functions for people: on a terminal, or as tables of Markdown. */
#include "function_match_view.h"

#include "heap_stack_text.h"
#include "opts.h"
#include "pgokit/human.h"
#include "shown_names.h"

#include <inttypes.h>

#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static const char *const meanings[PGK_MATCH_LEVELS] = {
    [PGK_MATCH_EXACT] = "as the profile has it",
    [PGK_MATCH_INLINING] = "a call at its place, inlined otherwise",
    [PGK_MATCH_LINE_ZERO] = "without code of its own in one of both builds",
    [PGK_MATCH_MOVED] = "at another line, by the calls around it, or discriminator",
    [PGK_MATCH_REROUTED] = "of a function by another name",
    [PGK_MATCH_AMBIGUOUS] = "several lines fit",
    [PGK_MATCH_FUNCTIONS] = "the function is there, and has changed",
    [PGK_MATCH_GONE] = "the function is gone",
};

struct table {
    const struct pgk_function_match *m;
    const struct pgk_match_print_opts *opts;
    struct pgk_text_style style;
    struct pgk_function_totals all;
    struct pgk_shown_names names;
};

static void print_title(const struct table *t)
{
    char a[160], b[160];
    size_t found = 0;
    for (enum pgk_match_level l = 0; l <= PGK_MATCH_FOUND; l++)
        found += pgk_function_totals_of(t->m, l).functions;
    bool md = t->opts->markdown;
    fprintf(t->style.out, "%s%s in %s: %.1f %% of %s found, most of %s of %s functions%s\n\n",
            md ? "### " : pgk_style_on(&t->style, PGK_STYLE_BOLD),
            pgk_human_text(a, sizeof a, t->opts->title),
            pgk_human_text(b, sizeof b, t->opts->against), pgk_function_match_percent(t->m),
            t->all.samples ? "the samples" : "the places", COUNT(found), COUNT(t->all.functions),
            md ? "" : pgk_style_off(&t->style));
}

static void print_levels(const struct table *t)
{
    bool md = t->opts->markdown;
    if (md)
        fputs("| level | functions | places | samples | share | meaning |\n"
              "|---|--:|--:|--:|--:|---|\n", t->style.out);
    else
        fprintf(t->style.out, "  %-15s %9s %9s %12s\n", "", "functions", "places", "samples");
    for (enum pgk_match_level level = 0; level < PGK_MATCH_LEVELS; level++) {
        struct pgk_function_totals l = pgk_function_totals_of(t->m, level);
        const char *format = md ? "| %s | %s | %s | %s | %.1f %% | %s |\n"
                                : "  %-15s %9s %9s %12s %7.1f %%  %s\n";
        if (l.places)
            fprintf(t->style.out, format, pgk_match_level_name(level), COUNT(l.functions),
                    COUNT(l.places), COUNT(l.samples),
                    pgk_match_share(l.samples, t->all.samples), meanings[level]);
    }
}

static const char *shown(struct table *t, const char *linkage, uint64_t guid)
{
    char unknown[32];
    snprintf(unknown, sizeof unknown, "0x%016" PRIx64, guid);
    const char *name = linkage && *linkage ? linkage : unknown;
    return pgk_shown_name(&t->names, name, strlen(name));
}

/* "book.c:+3.1"; the line of the file where it is known. */
static void put_place(const struct pgk_function_change *c, char *before, char *now, size_t size)
{
    char safe[128];
    const char *slash = strrchr(c->file, '/');
    pgk_human_text(safe, sizeof safe, slash ? slash + 1 : c->file);
    if (c->by_checksum) {
        snprintf(before, size, "checksum 0x%" PRIx64, c->checksum);
        snprintf(now, size, c->now_checksum ? "0x%" PRIx64 : "not found", c->now_checksum);
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
    char before[192], now[192];
    const char *function = shown(t, c->function, c->guid);
    const char *callee = c->callee ? shown(t, c->callee, c->callee_guid) : "";
    put_place(c, before, now, sizeof before);
    if (t->opts->markdown)
        fprintf(t->style.out, "| %s | %s | %s | `%s` | %s%s%s | %s | %s |\n", COUNT(c->samples),
                COUNT(c->places), pgk_match_level_name(c->level), function, *callee ? "`" : "",
                callee, *callee ? "`" : "", before, now);
    else
        fprintf(t->style.out, "  %12s %9s  %s%s%s\n      %s%s%s\n      %s -> %s\n",
                COUNT(c->samples), COUNT(c->places), pgk_style_on(&t->style, PGK_STYLE_LABEL),
                pgk_match_level_name(c->level), pgk_style_off(&t->style), function,
                *callee ? " calls " : "", callee, before, now);
}

static void print_changes(struct table *t)
{
    size_t all = pgk_function_changes(t->m), n = pgk_functions_shown(t->m, t->opts);
    if (!n)
        return;
    if (t->opts->markdown)
        fputs("\n| samples | places | level | function | calls | profile | build |\n"
              "|--:|--:|---|---|---|---|---|\n", t->style.out);
    else
        fprintf(t->style.out, "\n%sFunctions and calls that changed, with their heaviest place%s\n",
                pgk_style_on(&t->style, PGK_STYLE_BOLD), pgk_style_off(&t->style));
    for (size_t i = 0; i < n; i++) {
        struct pgk_function_change c = {.struct_size = sizeof c};
        pgk_function_change(t->m, i, &c);
        print_change(t, &c);
    }
    if (all > n)
        fprintf(t->style.out, "\n%s%zu more\n", t->opts->markdown ? "" : "  ", all - n);
}

int pgk_function_match_print(const struct pgk_function_match *match,
                             const struct pgk_match_print_opts *given, FILE *out,
                             struct pgk_err *err)
{
    struct pgk_match_print_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    opts.title = opts.title ? opts.title : "profile";
    opts.against = opts.against ? opts.against : "build";
    if (opts.json) {
        pgk_function_match_json(match, &opts, out);
        return 0;
    }
    struct table t = {.m = match, .opts = &opts, .style = {out, 100, 0, opts.colour}};
    t.all = pgk_function_totals_of(match, PGK_MATCH_LEVELS);
    print_title(&t);
    print_levels(&t);
    print_changes(&t);
    bool failed = t.names.failed;
    pgk_shown_names_free(&t.names);
    return failed ? pgk_fail_nomem(err) : 0;
}
