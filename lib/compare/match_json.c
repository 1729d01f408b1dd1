/* A match for programs: docs/formats/match-json.md. */
#include "match_view.h"

#include "heap_match.h"

static void put_totals(struct pgk_json *j, const void *match, enum pgk_match_level level)
{
    struct pgk_match_totals t = {.struct_size = sizeof t};
    pgk_match_totals(match, level, &t);
    pgk_json_number(j, "contexts", t.contexts);
    pgk_json_number(j, "bytes", t.bytes);
    pgk_json_number(j, "accesses", t.accesses);
}

static void put_place(struct pgk_json *j, const char *key, const char *file, uint32_t line,
                      uint32_t offset, uint32_t column)
{
    pgk_json_object(j, key);
    pgk_json_text(j, "file", file);
    if (line)
        pgk_json_number(j, "line", line);
    pgk_json_number(j, "line_offset", offset);
    pgk_json_number(j, "column", column);
}

static void put_change(struct pgk_json *j, const struct pgk_match_change *c)
{
    pgk_json_object(j, NULL);
    pgk_json_text(j, "level", pgk_match_level_name(c->level));
    pgk_json_number(j, "contexts", c->contexts);
    pgk_json_number(j, "bytes", c->bytes);
    pgk_match_json_call(j, "caller", c->caller, c->guid, c->callee, c->callee_guid);
    put_place(j, "profile", c->file, c->line, c->line_offset, c->column);
    pgk_json_flag(j, "inlined", c->inlined);
    pgk_json_flag(j, "renamed", c->renamed);
    pgk_json_end_object(j);
    if (c->has_now) {
        put_place(j, "build", c->now_file, c->now_line, c->now_line_offset, c->now_column);
        pgk_json_text(j, "callee", c->now_callee);
        pgk_json_end_object(j);
    }
    pgk_json_end_object(j);
}

static void put_changes(struct pgk_json *j, const struct pgk_match *m, size_t n)
{
    pgk_json_array(j, "changes");
    for (size_t i = 0; i < n; i++) {
        struct pgk_match_change c = {.struct_size = sizeof c};
        pgk_match_change(m, i, &c);
        pgk_json_line(j, 2);
        put_change(j, &c);
    }
    pgk_json_line(j, 0);
    pgk_json_end_array(j);
}

/* Levels of all contexts, in the order of the profile. */
static void put_contexts(struct pgk_json *j, const struct pgk_match *m)
{
    struct pgk_match_totals all = {.struct_size = sizeof all};
    pgk_match_totals(m, PGK_MATCH_LEVELS, &all);
    pgk_json_array(j, "contexts");
    for (size_t i = 0; i < all.contexts; i++)
        pgk_json_text(j, NULL, pgk_match_level_name(pgk_match_level(m, i)));
    pgk_json_end_array(j);
}

void pgk_match_print_json(const struct pgk_match *m, const struct pgk_match_print_opts *opts,
                          FILE *out)
{
    struct pgk_match_json view;
    pgk_match_json_begin(&view, "pgokit-match-1", pgk_match_percent(m), m, put_totals, out);
    put_changes(&view.j, m, pgk_match_top(opts, pgk_match_changes(m)));
    put_contexts(&view.j, m);
    pgk_match_json_end(&view);
}
