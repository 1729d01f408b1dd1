/* A match of functions for programs: docs/formats/match-json.md. */
#include "match_view.h"

static void put_totals(struct pgk_json *j, const void *match, enum pgk_match_level level)
{
    struct pgk_function_totals t = {.struct_size = sizeof t};
    pgk_function_totals(match, level, &t);
    pgk_json_number(j, "functions", t.functions);
    pgk_json_number(j, "places", t.places);
    pgk_json_number(j, "samples", t.samples);
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
    if (*c->now_function)
        pgk_json_text(j, "function", c->now_function);
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
    pgk_match_json_call(j, "function", c->function, c->guid, c->callee, c->callee_guid);
    put_places(j, c);
    pgk_json_end_object(j);
}

void pgk_function_match_json(const struct pgk_function_match *m,
                             const struct pgk_match_print_opts *opts, FILE *out)
{
    struct pgk_match_json view;
    pgk_match_json_begin(&view, "pgokit-match-functions-1", pgk_function_match_percent(m), m,
                         put_totals, out);
    pgk_json_array(&view.j, "changes");
    for (size_t i = 0; i < pgk_match_top(opts, pgk_function_changes(m)); i++) {
        struct pgk_function_change c = {.struct_size = sizeof c};
        pgk_function_change(m, i, &c);
        pgk_json_line(&view.j, 2);
        put_change(&view.j, &c);
    }
    pgk_json_line(&view.j, 0);
    pgk_json_end_array(&view.j);
    pgk_match_json_end(&view);
}
