/* The pseudo probes of a program as JSON, schema "pgokit-probes-1". docs/formats/probes-json.md
 *
 * Nodes are printed flat, each with the number of its parent, so that memory does not grow
 * with the program and a reader needs no recursion. */
#include "json_out.h"
#include "opts.h"
#include "probe_stats.h"

/* How far members, and entries of the long lists, are indented. */
enum { MEMBER = 2, ENTRY = 4 };

struct json {
    const struct pgk_probes *probes;
    const struct pgk_probe_index *index;
    struct pgk_json j;
};

static void put_totals(struct pgk_json *j, const struct pgk_probe_stats *s)
{
    const struct pgk_probes_totals *n = &s->totals;
    pgk_json_line(j, MEMBER);
    pgk_json_object(j, "totals");
    pgk_json_number(j, "described", s->described);
    pgk_json_number(j, "functions", s->functions);
    pgk_json_number(j, "roots", n->roots);
    pgk_json_number(j, "nodes", n->nodes);
    pgk_json_number(j, "probes", n->probes);
    pgk_json_number(j, "duplicated", s->duplicated);
    pgk_json_number(j, "lost_roots", n->lost_roots);
    pgk_json_number(j, "lost_probes", n->lost_probes);
    pgk_json_number(j, "outside", n->outside);
    pgk_json_number(j, "probe_bytes", n->probe_bytes);
    pgk_json_number(j, "desc_bytes", n->desc_bytes);
    pgk_json_number(j, "text_bytes", n->text_bytes);
    pgk_json_end_object(j);
}

static void put_distribution(struct pgk_json *j, const struct pgk_probe_stats *s)
{
    pgk_json_line(j, MEMBER);
    pgk_json_object(j, "by_type");
    for (int i = 0; i < PGK_PROBE_TYPES; i++)
        pgk_json_number(j, pgk_probe_type_name((enum pgk_probe_type)i), s->by_type[i]);
    pgk_json_end_object(j);
    pgk_json_line(j, MEMBER);
    pgk_json_number(j, "deepest", s->deepest);
    pgk_json_line(j, MEMBER);
    pgk_json_array(j, "by_depth");
    for (uint32_t d = 0; d < PGK_PROBE_DEPTHS && d <= s->deepest; d++)
        pgk_json_number(j, NULL, s->by_depth[d]);
    pgk_json_end_array(j);
}

static void put_descriptors(struct pgk_json *j, const struct pgk_probes *probes)
{
    pgk_json_line(j, MEMBER);
    pgk_json_array(j, "descriptors");
    for (size_t i = 0; i < pgk_probe_descs(probes); i++) {
        struct pgk_probe_desc d = pgk_probe_desc_at(probes, i);
        pgk_json_line(j, ENTRY);
        pgk_json_object(j, NULL);
        pgk_json_hex(j, "guid", d.guid, 16);
        pgk_json_hex(j, "hash", d.hash, 16);
        pgk_json_text_n(j, "name", d.name, d.name_len);
        pgk_json_end_object(j);
    }
    pgk_json_line(j, MEMBER);
    pgk_json_end_array(j);
}

static void put_node(void *ctx, uint32_t node, uint32_t depth, uint32_t first, uint32_t count)
{
    struct json *view = ctx;
    struct pgk_json *j = &view->j;
    struct pgk_probe_desc d =
        pgk_probe_desc_at(view->probes, pgk_probe_function(view->index, node));
    pgk_json_line(j, ENTRY);
    pgk_json_object(j, NULL);
    pgk_json_text_n(j, "function", d.name, d.name_len);
    if (depth) {
        pgk_json_number(j, "parent", pgk_probe_parent(view->index, node));
        pgk_json_number(j, "site", pgk_probe_site(view->index, node));
    }
    pgk_json_array(j, "probes");
    for (uint32_t i = first; i < first + count; i++) {
        struct pgk_probe p = pgk_probe_get(view->index, i);
        pgk_json_object(j, NULL);
        pgk_json_number(j, "index", p.index);
        pgk_json_text(j, "type", pgk_probe_type_name(p.type));
        pgk_json_hex(j, "address", p.addr, 1);
        if (p.discriminator)
            pgk_json_number(j, "discriminator", p.discriminator);
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
    pgk_json_end_object(j);
}

static int put_nodes(struct json *view, struct pgk_err *err)
{
    pgk_json_line(&view->j, MEMBER);
    pgk_json_array(&view->j, "nodes");
    PGK_TRY(pgk_probe_walk_nodes(view->index, put_node, view, err));
    pgk_json_line(&view->j, MEMBER);
    pgk_json_end_array(&view->j);
    return 0;
}

int pgk_probes_print_json(const struct pgk_probes *probes, const struct pgk_probe_index *index,
                          const struct pgk_probes_print_opts *given, FILE *out, struct pgk_err *err)
{
    struct pgk_probes_print_opts taken, *opts = &taken;
    struct json view = {.probes = probes, .index = index};
    struct pgk_json *j = &view.j;
    struct pgk_probe_stats stats;
    struct pgk_text_out text;
    int status = 0;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    opts->title = opts->title ? opts->title : "";
    PGK_TRY(pgk_probe_stats(probes, index, &stats, err));
    pgk_text_to_file(&text, out);
    pgk_json_begin(j, &text, PGK_JSON_SPACED);
    pgk_json_object(j, NULL);
    pgk_json_line(j, MEMBER);
    pgk_json_text(j, "schema", "pgokit-probes-1");
    pgk_json_line(j, MEMBER);
    pgk_json_text(j, "binary", opts->title);
    put_totals(j, &stats);
    put_distribution(j, &stats);
    if (opts->list) {
        put_descriptors(j, probes);
        status = put_nodes(&view, err);
    }
    pgk_json_line(j, 0);
    pgk_json_end_object(j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
    return status;
}
