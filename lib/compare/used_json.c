/* Writes what compiles used of a profile as JSON: docs/formats/used-json.md. */
#include "used_view.h"

static struct pgk_used_call *chain_of_context(const struct pgk_used *used, size_t context,
                                              size_t *n)
{
    *n = pgk_heap_stack(used->heap, context, NULL, 0);
    struct pgk_heap_frame *frames = pgk_mem_zalloc(*n + 1, sizeof *frames);
    struct pgk_used_call *calls = pgk_mem_zalloc(*n + 1, sizeof *calls);
    if (frames && calls) {
        pgk_heap_stack(used->heap, context, frames, *n);
        for (size_t i = 0; i < *n; i++)
            calls[i] = (struct pgk_used_call){frames[i].function, frames[i].guid,
                                              frames[i].line_offset, frames[i].column, 0};
    } else {
        pgk_mem_free(calls);
        calls = NULL;
    }
    pgk_mem_free(frames);
    return calls;
}

struct pgk_used_call *pgk_used_chain(const struct pgk_used *used, const struct pgk_used_left *left,
                                     size_t *n)
{
    if (used->heap)
        return chain_of_context(used, left->context, n);
    struct pgk_sample_function function = {.struct_size = sizeof function};
    *n = 0;
    for (uint32_t node = left->node; node; node = function.caller, ++*n)
        if (!pgk_sample_get(used->sample, node, &function))
            break;
    struct pgk_used_call *calls = pgk_mem_zalloc(*n + 1, sizeof *calls);
    uint32_t line = left->line, discriminator = left->discriminator;
    function.caller = left->node;
    for (size_t i = 0; calls && i < *n; i++) {
        pgk_sample_get(used->sample, function.caller, &function);
        calls[i] = (struct pgk_used_call){function.name, function.guid, line, 0, discriminator};
        line = function.line;
        discriminator = function.discriminator;
    }
    return calls;
}

static void put_totals(struct pgk_json *j, const struct pgk_used *used, enum pgk_use use)
{
    const struct pgk_used_totals *totals = &used->totals[use];
    pgk_json_number(j, used->heap ? "contexts" : "types", totals->items);
    pgk_json_number(j, used->heap ? "bytes" : "objects", totals->weight);
}

static void put_calls(struct pgk_json *j, const struct pgk_used *used)
{
    const struct pgk_used_calls *calls = &used->calls;
    pgk_json_object(j, "records");
    pgk_json_number(j, "modules", calls->modules);
    pgk_json_number(j, "links", calls->links);
    pgk_json_number(j, "of_other_profiles", calls->others);
    pgk_json_end_object(j);
    pgk_json_object(j, "calls");
    pgk_json_number(j, "given", calls->given);
    pgk_json_number(j, "missed", calls->missed);
    pgk_json_number(j, "without_line", calls->unlocated);
    pgk_json_number(j, "in_links", calls->linked);
    pgk_json_end_object(j);
}

static void put_uses(struct pgk_json *j, const struct pgk_used *used)
{
    pgk_json_array(j, "outcomes");
    for (enum pgk_use use = 0; use < PGK_USES; use++) {
        if (!used->totals[use].items)
            continue;
        pgk_json_line(j, 2);
        pgk_json_object(j, NULL);
        pgk_json_text(j, "outcome", pgk_use_name(use));
        pgk_json_flag(j, "used", use <= PGK_USE_LAST_USED);
        pgk_json_flag(j, "wanted", use < PGK_USE_FIRST_UNWANTED);
        put_totals(j, used, use);
        pgk_json_end_object(j);
    }
    pgk_json_line(j, 0);
    pgk_json_end_array(j);
}

static void put_left(struct pgk_json *j, const struct pgk_used *used,
                     const struct pgk_used_left *left)
{
    size_t n = 0;
    struct pgk_used_call *calls = pgk_used_chain(used, left, &n);
    pgk_json_object(j, NULL);
    pgk_json_text(j, "outcome", pgk_use_name(left->use));
    pgk_json_number(j, used->heap ? "bytes" : "objects", left->weight);
    if (!used->heap)
        pgk_json_text(j, "type", left->type);
    pgk_json_array(j, "calls");
    for (size_t i = 0; calls && i < n; i++) {
        pgk_json_object(j, NULL);
        pgk_json_text(j, "function", calls[i].function);
        pgk_json_hex(j, "guid", *calls[i].function ? pgk_sample_guid(calls[i].function)
                                                   : calls[i].guid, 16);
        pgk_json_number(j, "line_offset", calls[i].line);
        pgk_json_number(j, used->heap ? "column" : "discriminator",
                        used->heap ? calls[i].column : calls[i].discriminator);
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
    pgk_json_end_object(j);
    pgk_mem_free(calls);
}

void pgk_used_json(const struct pgk_used *used, const struct pgk_match_print_opts *opts, FILE *out)
{
    struct pgk_text_out text;
    struct pgk_json j;
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_TIGHT);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "schema", "pgokit-used-1");
    pgk_json_double(&j, "used_percent", pgk_used_percent(used));
    put_calls(&j, used);
    pgk_json_object(&j, "totals");
    put_totals(&j, used, PGK_USES);
    pgk_json_end_object(&j);
    put_uses(&j, used);
    pgk_json_array(&j, "not_used");
    for (size_t i = 0; i < pgk_match_top(opts, used->left.n); i++) {
        pgk_json_line(&j, 2);
        put_left(&j, used, &used->left.v[i]);
    }
    pgk_json_line(&j, 0);
    pgk_json_end_array(&j);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
}
