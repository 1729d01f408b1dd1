/* The pseudo probes of a program as JSON, schema "pgokit-probes-1". docs/formats/probes-json.md
 *
 * Nodes are printed flat, each with the number of its parent, so that memory does not grow
 * with the program and a reader needs no recursion. */
#include "probe_stats.h"
#include "text_out.h"

#include "mem.h"
#include "opts.h"

#include <inttypes.h>

struct json {
    const struct pgk_probes *probes;
    const struct pgk_probe_index *index;
    struct pgk_text_out out;
};

static void print_totals(struct json *j, const struct pgk_probe_stats *s)
{
    const struct pgk_probes_totals *n = &s->totals;
    struct pgk_text_out *o = &j->out;
    pgk_text_printf(o,
                    "  \"totals\": {\"described\": %" PRIu64 ", \"functions\": %" PRIu64
                    ", \"roots\": %" PRIu64 ", \"nodes\": %" PRIu64 ", \"probes\": %" PRIu64
                    ", \"duplicated\": %" PRIu64 ", ",
                    s->described, s->functions, n->roots, n->nodes, n->probes, s->duplicated);
    pgk_text_printf(o,
                    "\"lost_roots\": %" PRIu64 ", \"lost_probes\": %" PRIu64
                    ", \"outside\": %" PRIu64 ", \"probe_bytes\": %" PRIu64
                    ", \"desc_bytes\": %" PRIu64 ", \"text_bytes\": %" PRIu64 "},\n",
                    n->lost_roots, n->lost_probes, n->outside, n->probe_bytes, n->desc_bytes,
                    n->text_bytes);
    pgk_text_lit(o, "  \"by_type\": {");
    for (int i = 0; i < PGK_PROBE_TYPES; i++)
        pgk_text_printf(o, "%s\"%s\": %" PRIu64, i ? ", " : "",
                        pgk_probe_type_name((enum pgk_probe_type)i), s->by_type[i]);
    pgk_text_printf(o, "},\n  \"deepest\": %" PRIu32 ",\n  \"by_depth\": [", s->deepest);
    for (uint32_t d = 0; d < PGK_PROBE_DEPTHS && d <= s->deepest; d++)
        pgk_text_printf(o, "%s%" PRIu64, d ? ", " : "", s->by_depth[d]);
    pgk_text_lit(o, "]");
}

static void print_descs(struct json *j)
{
    size_t n = pgk_probe_descs(j->probes);
    pgk_text_lit(&j->out, ",\n  \"descriptors\": [");
    for (size_t i = 0; i < n; i++) {
        struct pgk_probe_desc d = pgk_probe_desc_at(j->probes, i);
        pgk_text_str(&j->out, i ? ",\n    " : "\n    ");
        pgk_text_printf(
            &j->out,
            "{\"guid\": \"0x%016" PRIx64 "\", \"hash\": \"0x%016" PRIx64 "\", \"name\": ", d.guid,
            d.hash);
        pgk_text_json(&j->out, d.name, d.name_len);
        pgk_text_lit(&j->out, "}");
    }
    pgk_text_lit(&j->out, "\n  ]");
}

static void print_node(void *ctx, uint32_t node, uint32_t depth, uint32_t first, uint32_t count)
{
    struct json *j = ctx;
    struct pgk_text_out *o = &j->out;
    struct pgk_probe_desc d = pgk_probe_desc_at(j->probes, pgk_probe_function(j->index, node));
    pgk_text_str(o, node ? ",\n    " : "\n    ");
    pgk_text_lit(o, "{\"function\": ");
    pgk_text_json(o, d.name, d.name_len);
    if (depth)
        pgk_text_printf(o, ", \"parent\": %" PRIu32 ", \"site\": %" PRIu32,
                        pgk_probe_parent(j->index, node), pgk_probe_site(j->index, node));
    pgk_text_lit(o, ", \"probes\": [");
    for (uint32_t i = first; i < first + count; i++) {
        struct pgk_probe p = pgk_probe_get(j->index, i);
        pgk_text_printf(
            o, "%s{\"index\": %" PRIu32 ", \"type\": \"%s\", \"address\": \"0x%" PRIx64 "\"",
            i > first ? ", " : "", p.index, pgk_probe_type_name(p.type), p.addr);
        if (p.discriminator)
            pgk_text_printf(o, ", \"discriminator\": %" PRIu32, p.discriminator);
        pgk_text_lit(o, "}");
    }
    pgk_text_lit(o, "]}");
}

int pgk_report_probes_json(const struct pgk_probes *probes, const struct pgk_probe_index *index,
                           const struct pgk_probe_report_opts *given, FILE *out,
                           struct pgk_err *err)
{
    struct pgk_probe_report_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct pgk_probe_stats stats;
    PGK_TRY(pgk_probe_stats(probes, index, &stats, err));
    struct json *j = pgk_mem_alloc(1, sizeof *j);
    if (!j)
        return pgk_fail_nomem(err);
    j->probes = probes;
    j->index = index;
    j->out.file = out;
    j->out.n = 0;
    pgk_text_lit(&j->out, "{\n  \"schema\": \"pgokit-probes-1\",\n  \"binary\": ");
    pgk_text_json(&j->out, opts->title, strlen(opts->title));
    pgk_text_lit(&j->out, ",\n");
    print_totals(j, &stats);
    int status = 0;
    if (opts->list) {
        print_descs(j);
        pgk_text_lit(&j->out, ",\n  \"nodes\": [");
        status = pgk_probe_walk_nodes(index, print_node, j, err);
        pgk_text_lit(&j->out, "\n  ]");
    }
    pgk_text_lit(&j->out, "\n}\n");
    pgk_text_flush(&j->out);
    pgk_mem_free(j);
    return status;
}
