/* A match for programs: docs/formats/match-json.md. */
#include "match_view.h"

#include "json_out.h"

static struct pgk_match_totals totals_of(const struct pgk_match *m, enum pgk_match_level level)
{
    struct pgk_match_totals t = {.struct_size = sizeof t};
    pgk_match_totals(m, level, &t);
    return t;
}

static void put_totals(struct pgk_json *j, const struct pgk_match_totals *t)
{
    pgk_json_number(j, "contexts", t->contexts);
    pgk_json_number(j, "bytes", t->bytes);
    pgk_json_number(j, "accesses", t->accesses);
}

static void put_levels(struct pgk_json *j, const struct pgk_match *m)
{
    pgk_json_array(j, "levels");
    for (enum pgk_match_level level = 0; level < PGK_MATCH_LEVELS; level++) {
        struct pgk_match_totals t = totals_of(m, level);
        pgk_json_line(j, 2);
        pgk_json_object(j, NULL);
        pgk_json_text(j, "level", pgk_match_level_name(level));
        pgk_json_flag(j, "found", level <= PGK_MATCH_FOUND);
        put_totals(j, &t);
        pgk_json_end_object(j);
    }
    pgk_json_line(j, 0);
    pgk_json_end_array(j);
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
    pgk_json_text(j, "caller", c->caller);
    pgk_json_hex(j, "guid", c->guid, 16);
    if (c->callee) {
        pgk_json_text(j, "callee", c->callee);
        pgk_json_hex(j, "callee_guid", c->callee_guid, 16);
    }
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
static void put_contexts(struct pgk_json *j, const struct pgk_match *m, size_t n)
{
    pgk_json_array(j, "contexts");
    for (size_t i = 0; i < n; i++)
        pgk_json_text(j, NULL, pgk_match_level_name(pgk_match_level(m, i)));
    pgk_json_end_array(j);
}

void pgk_match_print_json(const struct pgk_match *m, const struct pgk_match_print_opts *opts,
                          FILE *out)
{
    struct pgk_match_totals all = totals_of(m, PGK_MATCH_LEVELS);
    struct pgk_text_out text;
    struct pgk_json j;
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_TIGHT);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "schema", "pgokit-match-1");
    pgk_json_double(&j, "found_percent", pgk_match_percent(m));
    pgk_json_object(&j, "totals");
    put_totals(&j, &all);
    pgk_json_end_object(&j);
    put_levels(&j, m);
    put_changes(&j, m, pgk_match_shown(m, opts));
    put_contexts(&j, m, all.contexts);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
}
