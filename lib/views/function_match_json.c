/* A match of functions for programs: docs/formats/match-json.md. */
#include "function_match_view.h"

#include "json_out.h"

static void put_totals(struct pgk_json *j, const struct pgk_function_totals *t)
{
    pgk_json_number(j, "functions", t->functions);
    pgk_json_number(j, "places", t->places);
    pgk_json_number(j, "samples", t->samples);
}

static void put_levels(struct pgk_json *j, const struct pgk_function_match *m)
{
    pgk_json_array(j, "levels");
    for (enum pgk_match_level level = 0; level < PGK_MATCH_LEVELS; level++) {
        struct pgk_function_totals t = pgk_function_totals_of(m, level);
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

static void put_places(struct pgk_json *j, const struct pgk_function_change *c)
{
    pgk_json_object(j, "profile");
    pgk_json_number(j, "line_offset", c->line);
    pgk_json_number(j, "discriminator", c->discriminator);
    if (c->by_checksum)
        pgk_json_hex(j, "checksum", c->checksum, 16);
    if (c->callee)
        pgk_json_flag(j, "inlined", c->inlined);
    pgk_json_end_object(j);
    if (!c->has_now && !c->now_checksum)
        return;
    pgk_json_object(j, "build");
    if (*c->file)
        pgk_json_text(j, "file", c->file);
    if (c->has_now && c->decl_line)
        pgk_json_number(j, "line", c->decl_line + c->now_line);
    if (c->has_now)
        pgk_json_number(j, "line_offset", c->now_line);
    if (c->by_checksum)
        pgk_json_hex(j, "checksum", c->now_checksum, 16);
    pgk_json_end_object(j);
}

static void put_change(struct pgk_json *j, const struct pgk_function_change *c)
{
    pgk_json_object(j, NULL);
    pgk_json_text(j, "level", pgk_match_level_name(c->level));
    pgk_json_number(j, "samples", c->samples);
    pgk_json_number(j, "places", c->places);
    pgk_json_text(j, "function", c->function);
    pgk_json_hex(j, "guid", c->guid, 16);
    if (c->callee) {
        pgk_json_text(j, "callee", c->callee);
        pgk_json_hex(j, "callee_guid", c->callee_guid, 16);
    }
    put_places(j, c);
    pgk_json_end_object(j);
}

void pgk_function_match_json(const struct pgk_function_match *m,
                             const struct pgk_match_print_opts *opts, FILE *out)
{
    struct pgk_function_totals all = pgk_function_totals_of(m, PGK_MATCH_LEVELS);
    struct pgk_text_out text;
    struct pgk_json j;
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_TIGHT);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "schema", "pgokit-match-functions-1");
    pgk_json_double(&j, "found_percent", pgk_function_match_percent(m));
    pgk_json_object(&j, "totals");
    put_totals(&j, &all);
    pgk_json_end_object(&j);
    put_levels(&j, m);
    pgk_json_array(&j, "changes");
    for (size_t i = 0; i < pgk_functions_shown(m, opts); i++) {
        struct pgk_function_change c = {.struct_size = sizeof c};
        pgk_function_change(m, i, &c);
        pgk_json_line(&j, 2);
        put_change(&j, &c);
    }
    pgk_json_line(&j, 0);
    pgk_json_end_array(&j);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
}
