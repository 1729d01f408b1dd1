/* A match for people: on a terminal, or as tables of Markdown. */
#include "match_view.h"

#include "opts.h"
#include "pgokit/human.h"

#include <inttypes.h>
#include <string.h>

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static const char *const meanings[PGK_MATCH_LEVELS] = {
    [PGK_MATCH_EXACT] = "every call at its line and column",
    [PGK_MATCH_INLINING] = "at its place, inlined otherwise",
    [PGK_MATCH_LINE_ZERO] = "a call has no line in one of both builds",
    [PGK_MATCH_MOVED] = "at another line or column, by the order of calls",
    [PGK_MATCH_REROUTED] = "through a function that is new, gone or renamed",
    [PGK_MATCH_AMBIGUOUS] = "several places fit",
    [PGK_MATCH_FUNCTIONS] = "a call is gone, its functions are there",
    [PGK_MATCH_GONE] = "a function is gone",
};

struct table {
    const struct pgk_match *m;
    struct pgk_match_totals all;
    struct pgk_match_view view;
};

static void print_title(const struct table *t)
{
    char rest[160];
    size_t found = 0;
    for (enum pgk_match_level l = 0; l <= PGK_MATCH_FOUND; l++) {
        struct pgk_match_totals one = {.struct_size = sizeof one};
        pgk_match_totals(t->m, l, &one);
        found += one.contexts;
    }
    snprintf(rest, sizeof rest, "%s of %s contexts", COUNT(found), COUNT(t->all.contexts));
    pgk_match_view_title(&t->view, pgk_match_percent(t->m),
                         t->all.bytes ? "the bytes" : "the contexts", rest);
}

static void print_level(const struct table *t, enum pgk_match_level level)
{
    struct pgk_match_totals l = {.struct_size = sizeof l};
    pgk_match_totals(t->m, level, &l);
    if (!l.contexts)
        return;
    char accesses[32] = "";
    const char *format = t->view.opts.markdown ? "| %s | %s | %s | %.1f %% | %s"
                                               : "  %-15s %9s %12s %7.1f %% %9s";
    if (t->all.accesses)
        snprintf(accesses, sizeof accesses, "%.1f %%",
                 pgk_match_share(l.accesses, t->all.accesses));
    fprintf(t->view.style.out, format, pgk_match_level_name(level), COUNT(l.contexts),
            BYTES(l.bytes), pgk_match_share(l.bytes, t->all.bytes), accesses);
    pgk_match_view_meaning(&t->view, meanings[level]);
}

static void print_levels(const struct table *t)
{
    if (t->view.opts.markdown)
        fputs("| level | contexts | bytes | share | of accesses | meaning |\n"
              "|---|--:|--:|--:|--:|---|\n", t->view.style.out);
    else
        fprintf(t->view.style.out, "  %-15s %9s %12s%s\n", "", "contexts", "bytes",
                t->all.accesses ? "            accesses" : "");
    for (enum pgk_match_level l = 0; l < PGK_MATCH_LEVELS; l++)
        print_level(t, l);
}

/* "book.c:91:7"; without the line of the declaration "book.c:+3:7". */
static const char *place(char *buf, size_t size, const char *file, uint32_t line, uint32_t offset,
                         uint32_t column, bool no_line)
{
    char safe[128], at[48];
    const char *slash = strrchr(file, '/');
    if (no_line)
        snprintf(at, sizeof at, "0");
    else if (line)
        snprintf(at, sizeof at, "%" PRIu32 ":%" PRIu32, line, column);
    else
        snprintf(at, sizeof at, "+%" PRIu32 ":%" PRIu32, offset, column);
    pgk_human_text(safe, sizeof safe, slash ? slash + 1 : *file ? file : "?");
    snprintf(buf, size, "%s:%s", safe, at);
    return buf;
}

static void print_change(struct table *t, const struct pgk_match_change *c)
{
    struct pgk_match_view *v = &t->view;
    char before[192], now[192] = "not found";
    bool no_line = c->line_zero;
    const char *callee =
        c->callee ? pgk_match_view_name(v, c->callee, c->callee_guid) : "the allocator";
    place(before, sizeof before, c->file, c->line, c->line_offset, c->column, no_line);
    if (c->has_now) {
        place(now, sizeof now, c->now_file, c->now_line, c->now_line_offset, c->now_column,
              !c->now_line);
        size_t n = strlen(now);
        if (c->level == PGK_MATCH_REROUTED)
            snprintf(now + n, sizeof now - n, " calls %s",
                     pgk_match_view_name(v, c->now_callee, 0));
        else if (c->level == PGK_MATCH_AMBIGUOUS)
            snprintf(now + n, sizeof now - n, " or another");
    }
    const char *caller = pgk_match_view_name(v, c->caller, c->guid);
    if (v->opts.markdown)
        fprintf(v->style.out, "| %s | %s | %s | `%s` | `%s` | %s | %s |\n", COUNT(c->contexts),
                BYTES(c->bytes), pgk_match_level_name(c->level), caller, callee, before, now);
    else
        fprintf(v->style.out, "  %9s %12s  %s%s%s\n      %s calls %s\n      %s -> %s\n",
                COUNT(c->contexts), BYTES(c->bytes), pgk_style_on(&v->style, PGK_STYLE_LABEL),
                pgk_match_level_name(c->level), pgk_style_off(&v->style), caller, callee, before,
                now);
}

static void print_changes(struct table *t)
{
    size_t all = pgk_match_changes(t->m), n = pgk_match_top(&t->view.opts, all);
    if (!n)
        return;
    if (t->view.opts.markdown)
        fputs("\n| contexts | bytes | level | caller | calls | profile | build |\n"
              "|--:|--:|---|---|---|---|---|\n", t->view.style.out);
    else
        pgk_match_view_heading(&t->view, "Calls that changed");
    for (size_t i = 0; i < n; i++) {
        struct pgk_match_change c = {.struct_size = sizeof c};
        pgk_match_change(t->m, i, &c);
        print_change(t, &c);
    }
    pgk_match_view_left(&t->view, all - n);
}

int pgk_match_print(const struct pgk_match *match, const struct pgk_match_print_opts *given,
                    FILE *out, struct pgk_err *err)
{
    struct table t = {.m = match, .all = {.struct_size = sizeof t.all}};
    PGK_TRY(PGK_OPTS_TAKE(&t.view.opts, given, err));
    pgk_match_view_begin(&t.view, out);
    if (t.view.opts.json) {
        pgk_match_print_json(match, &t.view.opts, out);
        return 0;
    }
    pgk_match_totals(match, PGK_MATCH_LEVELS, &t.all);
    print_title(&t);
    print_levels(&t);
    print_changes(&t);
    return pgk_match_view_end(&t.view, err);
}
