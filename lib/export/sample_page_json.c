/* The data of a sample report page as JSON, in columns. docs/report.md describes the keys. */
#include "sample_page.h"

#include "exporters.h"
#include "page_pack.h"
#include "page_titles.h"
#include "saturate.h"

static void put_info(struct pgk_sample_page *p)
{
    struct pgk_json *j = p->json;
    struct pgk_sample_info info = {.struct_size = sizeof info};
    const struct pgk_sample_sizes sizes = pgk_sample_sizes(p->tree.now);
    pgk_sample_info(p->tree.now, &info);
    pgk_json_object(j, "info");
    pgk_json_number(j, "functions", info.functions);
    pgk_json_flag(j, "contexts", info.contexts);
    pgk_json_flag(j, "probes", info.probes);
    pgk_json_flag(j, "preinlined", info.preinlined);
    pgk_json_flag(j, "partial", info.partial);
    pgk_json_flag(j, "names_missing", info.names_missing);
    pgk_json_number(j, "distinct", p->distinct);
    pgk_json_number(j, "symbols", info.n_symbols);
    pgk_json_number(j, "conflicts", info.conflicts);
    pgk_json_number(j, "conflict_samples", info.conflict_samples);
    pgk_json_number(j, "lines", sizes.lines);
    pgk_json_number(j, "inlinees", sizes.inlinees);
    pgk_json_number(j, "targets", sizes.targets);
    pgk_json_number(j, "vtables", sizes.vtables);
    pgk_json_end_object(j);
}

static void put_side(struct pgk_json *j, const char *key, const struct pgk_sample_page_side *side)
{
    const struct pgk_sample_summary *s = &side->summary;
    pgk_json_object(j, key);
    pgk_json_number(j, "heads", side->heads);
    pgk_json_digits(j, "density", side->density, 17);
    pgk_json_number(j, "total_count", s->total_count);
    pgk_json_number(j, "max_count", s->max_count);
    pgk_json_number(j, "max_function_count", s->max_function_count);
    pgk_json_number(j, "num_counts", s->num_counts);
    pgk_json_number(j, "num_functions", s->num_functions);
    pgk_json_number(j, "hot_count", pgk_sample_hot_count(s));
    pgk_json_number(j, "cold_count", pgk_sample_cold_count(s));
    pgk_json_array(j, "cutoffs");
    for (size_t i = 0; i < s->n_cutoffs; i++) {
        pgk_json_array(j, NULL);
        pgk_json_number(j, NULL, s->cutoffs[i].ppm);
        pgk_json_number(j, NULL, s->cutoffs[i].min_count);
        pgk_json_number(j, NULL, s->cutoffs[i].num_counts);
        pgk_json_end_array(j);
    }
    pgk_json_end_array(j);
    pgk_json_end_object(j);
}

static void put_coverage(struct pgk_json *j, const struct pgk_sample_coverage *c)
{
    pgk_json_object(j, "coverage");
    pgk_json_number(j, "functions", c->functions);
    pgk_json_number(j, "profiled", c->profiled);
    pgk_json_number(j, "inlined", c->inlined);
    pgk_json_number(j, "bytes", c->bytes);
    pgk_json_number(j, "profiled_bytes", c->profiled_bytes);
    pgk_json_number(j, "inlined_bytes", c->inlined_bytes);
    pgk_json_number(j, "unknown", c->unknown);
    pgk_json_number(j, "unknown_samples", c->unknown_samples);
    pgk_json_end_object(j);
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

static uint64_t func_file(const void *page, uint32_t func)
{
    const struct pgk_sample_page *p = page;
    return p->texts.number_of[pgk_sample_page_place(p, func).file] - 1;
}

static uint64_t func_start(const void *page, uint32_t func)
{
    return pgk_sample_page_place(page, func).line;
}

/* The last two are known with the program. */
static const struct pgk_json_column func_columns[] = {{"name", func_name},
                                                      {"linkage", func_linkage},
                                                      {"file", func_file},
                                                      {"start", func_start}};

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

/* The last one is of a comparison. */
static const struct pgk_json_column node_columns[] = {
    {"parent", node_parent},
    {"func", node_func},
    {"line", node_line},
    {"discriminator", node_discriminator},
    {"context", node_context},
    {"head", node_head},
    {"own", node_own},
    {"attributes", node_attributes},
    {"records", node_records},
    {"left_out", node_left_out},
    {"own_before", node_own_before},
};

static void put_tables(struct pgk_sample_page *p)
{
    struct pgk_json *j = p->json;
    size_t n_columns = PGK_COUNTOF(node_columns) - (p->diff ? 0 : 1);
    pgk_json_object(j, "funcs");
    pgk_json_columns(j, func_columns,
                     PGK_COUNTOF(func_columns) - (p->opts->binaries ? 0 : 2), p, p->funcs.old.v,
                     p->funcs.old.n);
    pgk_json_end_object(j);
    pgk_json_object(j, "nodes");
    pgk_json_columns(j, node_columns, n_columns, p, p->nodes.old.v, p->nodes.old.n);
    pgk_json_end_object(j);
}

/* ---- lines, calls and types, node by node ---- */

static uint64_t rec_line(const struct pgk_sample_page *p, const struct pgk_sample_rec *r)
{
    (void)p;
    return pgk_sample_line(r->loc);
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

static void put_record_column(struct pgk_sample_page *p, const char *key,
                              uint64_t (*value)(const struct pgk_sample_page *p,
                                                const struct pgk_sample_rec *r))
{
    pgk_json_array(p->json, key);
    for (size_t i = 1; i < p->nodes.old.n; i++) {
        const struct pgk_sample_recs *recs = pgk_sample_page_records(p, p->nodes.old.v[i]);
        for (uint32_t r = 0; r < recs->n; r++)
            if (recs->v[r].count >= p->least_count)
                pgk_json_number(p->json, NULL, value(p, &recs->v[r]));
    }
    pgk_json_end_array(p->json);
}

static void put_records(struct pgk_sample_page *p)
{
    pgk_json_object(p->json, "records");
    put_record_column(p, "line", rec_line);
    put_record_column(p, "what", rec_what);
    put_record_column(p, "count", rec_count);
    pgk_json_end_object(p->json);
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

/* All but the first are of a comparison. */
static const struct pgk_json_column row_columns[] = {
    {"node", row_node}, {"samples", row_samples}, {"samples_before", row_samples_before}};

static void put_similarity(struct pgk_sample_page *p)
{
    pgk_json_array(p->json, "similarity");
    for (size_t i = 0; i < p->n_shown; i++) {
        const struct pgk_sample_change *c = p->rows[i].change;
        pgk_json_digits(p->json, NULL, c ? c->similarity : 0, 6);
    }
    pgk_json_end_array(p->json);
}

static void put_rows(struct pgk_sample_page *p)
{
    pgk_json_object(p->json, "rows");
    pgk_json_columns(p->json, row_columns, p->diff ? PGK_COUNTOF(row_columns) : 1, p, NULL,
                     p->n_shown);
    if (p->diff)
        put_similarity(p);
    pgk_json_end_object(p->json);
}

static void put_split(struct pgk_json *j, const char *key, uint64_t both, uint64_t base,
                      uint64_t test)
{
    pgk_json_array(j, key);
    pgk_json_number(j, NULL, both);
    pgk_json_number(j, NULL, base);
    pgk_json_number(j, NULL, test);
    pgk_json_end_array(j);
}

static void put_overlap(struct pgk_json *j, const struct pgk_sample_overlap *o)
{
    pgk_json_object(j, "overlap");
    pgk_json_digits(j, "similarity", o->similarity, 17);
    pgk_json_digits(j, "sample_overlap", o->sample_overlap, 17);
    pgk_json_digits(j, "base_unique", o->base_unique, 17);
    pgk_json_digits(j, "test_unique", o->test_unique, 17);
    pgk_json_number(j, "base_samples", o->base_samples);
    pgk_json_number(j, "test_samples", o->test_samples);
    put_split(j, "functions", o->functions_both, o->functions_base, o->functions_test);
    put_split(j, "hot_functions", o->hot_functions_both, o->hot_functions_base,
              o->hot_functions_test);
    put_split(j, "hot_lines", o->hot_lines_both, o->hot_lines_base, o->hot_lines_test);
    pgk_json_end_object(j);
}

/* What the page leaves out. */
static void put_rest(struct pgk_sample_page *p)
{
    struct pgk_json *j = p->json;
    uint64_t samples = 0;
    for (size_t i = p->n_shown; i < p->n_rows; i++)
        samples = pgk_add_saturated(
            samples, p->diff ? row_samples(p, (uint32_t)i)
                             : pgk_tree_samples_now(&p->tree, p->rows[i].node));
    pgk_json_object(j, "rest");
    pgk_json_number(j, "functions", p->n_rows - p->n_shown);
    pgk_json_number(j, "samples", samples);
    pgk_json_digits(j, "largest_share",
                    p->n_shown < p->n_rows ? p->rows[p->n_shown].weight : 0, 17);
    pgk_json_number(j, "inlinees", p->inlinees_folded);
    pgk_json_digits(j, "folded_share", p->folded_share, 17);
    pgk_json_number(j, "records", p->records_left_out);
    pgk_json_number(j, "least_count", p->least_count);
    pgk_json_end_object(j);
}

static void put_texts(struct pgk_sample_page *p)
{
    pgk_json_array(p->json, "texts");
    for (size_t i = 0; i < p->texts.old.n; i++)
        pgk_json_text(p->json, NULL, pgk_sample_tree_text(&p->tree, p->texts.old.v[i]));
    pgk_json_end_array(p->json);
}

static int put_page(void *page, struct pgk_json *j, struct pgk_err *err)
{
    struct pgk_sample_page *p = page;
    p->json = j;
    pgk_json_object(j, NULL);
    pgk_page_titles(j, "sample", p->opts->info, p->opts->title, p->diff != NULL,
                    p->opts->base_title);
    put_info(p);
    put_side(j, "now", &p->now);
    if (p->diff) {
        put_side(j, "before", &p->before);
        put_overlap(j, pgk_sample_diff_overlap(p->diff));
    }
    if (p->opts->binaries)
        put_coverage(j, &p->coverage);
    put_tables(p);
    put_records(p);
    put_rows(p);
    put_rest(p);
    PGK_TRY(pgk_sample_page_sources(p, err));
    put_texts(p);
    pgk_json_end_object(j);
    return 0;
}

int pgk_export_sample_page(const struct pgk_sample *profile,
                           const struct pgk_sample_export_opts *opts, struct pgk_sink *out,
                           struct pgk_err *err)
{
    struct pgk_sample_page page = {.opts = opts};
    int status = pgk_sample_page_make(&page, profile, err);
    if (!status)
        status = pgk_page_write(out, put_page, &page, err);
    pgk_sample_page_free(&page);
    return status;
}
