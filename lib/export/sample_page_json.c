/* The data of a sample report page as JSON, in columns. docs/report.md tells the keys. */
#include "sample_page.h"

#include "json_out.h"
#include "page_titles.h"

static void put_flag(struct pgk_sink *out, const char *key, bool v)
{
    pgk_sink_printf(out, ",\"%s\":%s", key, v ? "true" : "false");
}

static void put_info(struct pgk_sample_page *p)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    struct pgk_sample_sizes sizes;
    pgk_sample_info(p->tree.now, &info);
    pgk_sample_sizes(p->tree.now, &sizes);
    pgk_sink_printf(p->out, ",\"info\":{\"functions\":%zu", info.functions);
    put_flag(p->out, "contexts", info.contexts);
    put_flag(p->out, "probes", info.probes);
    put_flag(p->out, "preinlined", info.preinlined);
    put_flag(p->out, "partial", info.partial);
    put_flag(p->out, "names_missing", info.names_missing);
    pgk_json_member_number(p->out, "distinct", p->distinct);
    pgk_json_member_number(p->out, "symbols", info.n_symbols);
    pgk_json_member_number(p->out, "conflicts", info.conflicts);
    pgk_json_member_number(p->out, "conflict_samples", info.conflict_samples);
    pgk_json_member_number(p->out, "lines", sizes.lines);
    pgk_json_member_number(p->out, "inlinees", sizes.inlinees);
    pgk_json_member_number(p->out, "targets", sizes.targets);
    pgk_json_member_number(p->out, "vtables", sizes.vtables);
    pgk_sink_printf(p->out, "}");
}

static void put_side(struct pgk_sink *out, const char *key, const struct pgk_sample_page_side *side)
{
    const struct pgk_sample_summary *s = &side->summary;
    bool first = true;
    pgk_sink_printf(out, ",\"%s\":{\"functions_total\":", key);
    pgk_json_number(out, side->functions_total);
    pgk_json_member_number(out, "heads", side->heads);
    pgk_json_member_double(out, "density", side->density);
    pgk_json_member_number(out, "total_count", s->total_count);
    pgk_json_member_number(out, "max_count", s->max_count);
    pgk_json_member_number(out, "max_function_count", s->max_function_count);
    pgk_json_member_number(out, "num_counts", s->num_counts);
    pgk_json_member_number(out, "num_functions", s->num_functions);
    pgk_json_member_number(out, "hot_count", pgk_sample_hot_count(s));
    pgk_json_member_number(out, "cold_count", pgk_sample_cold_count(s));
    pgk_sink_printf(out, ",\"cutoffs\":[");
    for (size_t i = 0; i < s->n_cutoffs; i++) {
        pgk_json_comma(out, &first);
        pgk_sink_printf(out, "[%llu,%llu,%llu]", (unsigned long long)s->cutoffs[i].ppm,
                        (unsigned long long)s->cutoffs[i].min_count,
                        (unsigned long long)s->cutoffs[i].num_counts);
    }
    pgk_sink_printf(out, "]}");
}

static void put_coverage(struct pgk_sample_page *p)
{
    const struct pgk_sample_coverage *c = &p->coverage;
    pgk_sink_printf(p->out, ",\"coverage\":{\"functions\":%zu", c->functions);
    pgk_json_member_number(p->out, "profiled", c->profiled);
    pgk_json_member_number(p->out, "inlined", c->inlined);
    pgk_json_member_number(p->out, "bytes", c->bytes);
    pgk_json_member_number(p->out, "profiled_bytes", c->profiled_bytes);
    pgk_json_member_number(p->out, "inlined_bytes", c->inlined_bytes);
    pgk_json_member_number(p->out, "unknown", c->unknown);
    pgk_json_member_number(p->out, "unknown_samples", c->unknown_samples);
    pgk_sink_printf(p->out, "}");
}

/* ---- functions ---- */

static uint64_t func_name(const void *page, uint32_t func)
{
    const struct pgk_sample_page *p = page;
    return p->texts.number_of[p->tree.funcs.v[func].name] - 1;
}

static uint64_t func_linkage(const void *page, uint32_t func)
{
    const struct pgk_sample_page *p = page;
    return p->texts.number_of[p->tree.funcs.v[func].linkage] - 1;
}

static const struct pgk_json_column func_columns[] = {{"name", func_name},
                                                      {"linkage", func_linkage}};

/* ---- nodes ---- */

static const struct pgk_sample_tree_node *tree_node(const void *page, uint32_t node)
{
    const struct pgk_sample_page *p = page;
    return &p->tree.nodes.v[node];
}

/* Parents as a distance, which is small mostly. */
static uint64_t node_parent(const void *page, uint32_t node)
{
    const struct pgk_sample_page *p = page;
    return node ? p->nodes.number_of[node] - p->nodes.number_of[tree_node(p, node)->parent] : 0;
}

static uint64_t node_func(const void *page, uint32_t node)
{
    const struct pgk_sample_page *p = page;
    return node ? p->funcs.number_of[tree_node(p, node)->func] - 1 : 0;
}

static uint64_t node_line(const void *page, uint32_t node)
{
    return pgk_sample_line(tree_node(page, node)->loc);
}

static uint64_t node_discriminator(const void *page, uint32_t node)
{
    return pgk_sample_discriminator(tree_node(page, node)->loc);
}

static uint64_t node_context(const void *page, uint32_t node)
{
    return tree_node(page, node)->context;
}

static uint64_t node_own(const void *page, uint32_t node)
{
    const struct pgk_sample_page *p = page;
    return p->own[node];
}

static uint64_t node_own_before(const void *page, uint32_t node)
{
    const struct pgk_sample_page *p = page;
    return p->own_before[node];
}

static uint64_t node_total(const void *page, uint32_t node)
{
    const struct pgk_sample_page *p = page;
    const struct pgk_sample_node *now = pgk_tree_now(&p->tree, node);
    return now ? now->total : 0;
}

static uint64_t node_head(const void *page, uint32_t node)
{
    const struct pgk_sample_page *p = page;
    const struct pgk_sample_node *now = pgk_tree_now(&p->tree, node);
    return now ? now->head : 0;
}

static uint64_t node_attributes(const void *page, uint32_t node)
{
    const struct pgk_sample_page *p = page;
    const struct pgk_sample_node *now = pgk_tree_now(&p->tree, node);
    return now ? now->attributes : 0;
}

static uint64_t count_records(const struct pgk_sample_page *p, uint32_t node, bool shown)
{
    const struct pgk_sample_recs *recs = pgk_sample_page_records(p, node);
    uint64_t n = 0;
    for (uint32_t r = 0; r < recs->n; r++)
        n += (recs->v[r].count >= p->least_count) == shown;
    return n;
}

static uint64_t node_records(const void *page, uint32_t node)
{
    return count_records(page, node, true);
}

static uint64_t node_left_out(const void *page, uint32_t node)
{
    return count_records(page, node, false);
}

/* The last one tells of a comparison. */
static const struct pgk_json_column node_columns[] = {
    {"parent", node_parent},
    {"func", node_func},
    {"line", node_line},
    {"discriminator", node_discriminator},
    {"context", node_context},
    {"total", node_total},
    {"head", node_head},
    {"own", node_own},
    {"attributes", node_attributes},
    {"records", node_records},
    {"left_out", node_left_out},
    {"own_before", node_own_before},
};

static void put_tables(struct pgk_sample_page *p)
{
    size_t n_columns = PGK_COUNTOF(node_columns) - (p->diff ? 0 : 1);
    pgk_json_columns(p->out, "funcs", func_columns, PGK_COUNTOF(func_columns), p, p->funcs.old.v,
                     p->funcs.old.n);
    pgk_sink_printf(p->out, "}");
    pgk_json_columns(p->out, "nodes", node_columns, n_columns, p, p->nodes.old.v, p->nodes.old.n);
    pgk_sink_printf(p->out, "}");
}

/* ---- lines, calls and types, node by node ---- */

static uint64_t rec_line(const struct pgk_sample_page *p, const struct pgk_sample_rec *r)
{
    (void)p;
    return pgk_sample_line(r->loc);
}

static uint64_t rec_discriminator(const struct pgk_sample_page *p, const struct pgk_sample_rec *r)
{
    (void)p;
    return pgk_sample_discriminator(r->loc);
}

/* 0: samples of the line; 2f + 1 calls of function f; 2f + 2 objects of type f. */
static uint64_t rec_what(const struct pgk_sample_page *p, const struct pgk_sample_rec *r)
{
    if (!r->what)
        return 0;
    uint32_t func = p->tree.func_of_now[pgk_rec_name(r)] - 1;
    return 2 * (uint64_t)(p->funcs.number_of[func] - 1) + 1 + pgk_rec_is_vtable(r);
}

static uint64_t rec_count(const struct pgk_sample_page *p, const struct pgk_sample_rec *r)
{
    (void)p;
    return r->count;
}

static void put_record_column(struct pgk_sample_page *p, const char *key, bool first_member,
                              uint64_t (*value)(const struct pgk_sample_page *p,
                                                const struct pgk_sample_rec *r))
{
    bool first = true;
    pgk_sink_printf(p->out, "%s\"%s\":[", first_member ? "" : ",", key);
    for (size_t i = 1; i < p->nodes.old.n; i++) {
        const struct pgk_sample_recs *recs = pgk_sample_page_records(p, p->nodes.old.v[i]);
        for (uint32_t r = 0; r < recs->n; r++) {
            if (recs->v[r].count < p->least_count)
                continue;
            pgk_json_comma(p->out, &first);
            pgk_json_number(p->out, value(p, &recs->v[r]));
        }
    }
    pgk_sink_printf(p->out, "]");
}

static void put_records(struct pgk_sample_page *p)
{
    pgk_sink_printf(p->out, ",\"records\":{");
    put_record_column(p, "line", true, rec_line);
    put_record_column(p, "discriminator", false, rec_discriminator);
    put_record_column(p, "what", false, rec_what);
    put_record_column(p, "count", false, rec_count);
    pgk_sink_printf(p->out, "}");
}

/* ---- rows ---- */

static uint64_t row_node(const void *page, uint32_t row)
{
    const struct pgk_sample_page *p = page;
    return p->nodes.number_of[p->rows[row].node] - 1;
}

static uint64_t row_samples(const void *page, uint32_t row)
{
    const struct pgk_sample_page *p = page;
    const struct pgk_sample_change *c = p->rows[row].change;
    return c ? c->test_samples : 0;
}

static uint64_t row_samples_before(const void *page, uint32_t row)
{
    const struct pgk_sample_page *p = page;
    const struct pgk_sample_change *c = p->rows[row].change;
    return c ? c->base_samples : 0;
}

/* All but the first tell of a comparison. */
static const struct pgk_json_column row_columns[] = {
    {"node", row_node}, {"samples", row_samples}, {"samples_before", row_samples_before}};

static void put_similarity(struct pgk_sample_page *p)
{
    bool first = true;
    pgk_sink_printf(p->out, ",\"similarity\":[");
    for (size_t i = 0; i < p->n_shown; i++) {
        const struct pgk_sample_change *c = p->rows[i].change;
        pgk_json_comma(p->out, &first);
        pgk_sink_printf(p->out, "%.6g", c ? c->similarity : 0);
    }
    pgk_sink_printf(p->out, "]");
}

static void put_rows(struct pgk_sample_page *p)
{
    pgk_json_columns(p->out, "rows", row_columns, p->diff ? PGK_COUNTOF(row_columns) : 1, p, NULL,
                     p->n_shown);
    if (p->diff)
        put_similarity(p);
    pgk_sink_printf(p->out, "}");
}

static void put_split(struct pgk_sink *out, const char *key, uint64_t both, uint64_t base,
                      uint64_t test)
{
    pgk_sink_printf(out, ",\"%s\":[%llu,%llu,%llu]", key, (unsigned long long)both,
                    (unsigned long long)base, (unsigned long long)test);
}

static void put_overlap(struct pgk_sample_page *p)
{
    const struct pgk_sample_overlap *o = pgk_sample_diff_overlap(p->diff);
    pgk_sink_printf(p->out, ",\"overlap\":{\"similarity\":");
    pgk_json_double(p->out, o->similarity);
    pgk_json_member_double(p->out, "sample_overlap", o->sample_overlap);
    pgk_json_member_double(p->out, "base_unique", o->base_unique);
    pgk_json_member_double(p->out, "test_unique", o->test_unique);
    pgk_json_member_number(p->out, "base_samples", o->base_samples);
    pgk_json_member_number(p->out, "test_samples", o->test_samples);
    put_split(p->out, "functions", o->functions_both, o->functions_base, o->functions_test);
    put_split(p->out, "hot_functions", o->hot_functions_both, o->hot_functions_base,
              o->hot_functions_test);
    put_split(p->out, "hot_lines", o->hot_lines_both, o->hot_lines_base, o->hot_lines_test);
    pgk_sink_printf(p->out, "}");
}

/* What the page leaves out. */
static void put_rest(struct pgk_sample_page *p)
{
    uint64_t samples = 0;
    for (size_t i = p->n_shown; i < p->n_rows; i++)
        samples = pgk_sample_sum(samples, p->diff ? row_samples(p, (uint32_t)i)
                                                  : node_total(p, p->rows[i].node));
    pgk_sink_printf(p->out, ",\"rest\":{\"functions\":%zu", p->n_rows - p->n_shown);
    pgk_json_member_number(p->out, "samples", samples);
    pgk_json_member_double(p->out, "largest_share",
                           p->n_shown < p->n_rows ? p->rows[p->n_shown].weight : 0);
    pgk_json_member_number(p->out, "inlinees", p->inlinees_folded);
    pgk_json_member_double(p->out, "folded_share", p->folded_share);
    pgk_json_member_number(p->out, "records", p->records_left_out);
    pgk_json_member_number(p->out, "least_count", p->least_count);
    pgk_sink_printf(p->out, "}");
}

static void put_texts(struct pgk_sample_page *p)
{
    bool first = true;
    pgk_sink_printf(p->out, ",\"texts\":[");
    for (size_t i = 0; i < p->texts.old.n; i++) {
        pgk_json_comma(p->out, &first);
        pgk_json_text(p->out, pgk_sample_tree_text(&p->tree, p->texts.old.v[i]));
    }
    pgk_sink_printf(p->out, "]");
}

void pgk_sample_page_json(struct pgk_sample_page *p)
{
    pgk_sink_printf(p->out, "{");
    pgk_page_titles(p->out, "sample", p->opts->info, p->opts->title, p->diff != NULL,
                  p->opts->base_title);
    put_info(p);
    put_side(p->out, "now", &p->now);
    if (p->diff) {
        put_side(p->out, "before", &p->before);
        put_overlap(p);
    }
    if (p->opts->binaries)
        put_coverage(p);
    put_tables(p);
    put_records(p);
    put_rows(p);
    put_rest(p);
    put_texts(p);
    pgk_sink_printf(p->out, "}");
}
