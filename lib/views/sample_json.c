/* A sample profile as JSON, schema "pgokit-sample-1", and what differs between two,
 * "pgokit-sample-diff-1". docs/formats/sample-json.md */
#include "json_out.h"
#include "opts.h"
#include "profile_json.h"
#include "sample_order.h"
#include "sample_origin.h"

struct view {
    const struct pgk_sample *p;
    struct pgk_sample_order order;
    struct pgk_json j;
};

static void put_name(struct view *v, uint32_t name)
{
    const struct pgk_sample_name *n = &v->p->names.list.v[name];
    if (n->s)
        pgk_json_text_n(&v->j, "name", n->s, n->len);
    else
        pgk_json_hex(&v->j, "guid", n->guid, 16);
}

static void put_loc(struct view *v, uint64_t loc)
{
    pgk_json_number(&v->j, "line", pgk_sample_line(loc));
    if (pgk_sample_discriminator(loc))
        pgk_json_number(&v->j, "discriminator", pgk_sample_discriminator(loc));
}

static void put_counts(struct view *v, const char *key, const struct pgk_sample_rec *recs, size_t n)
{
    if (!n)
        return;
    pgk_json_array(&v->j, key);
    for (size_t i = 0; i < n; i++) {
        pgk_json_object(&v->j, NULL);
        put_name(v, pgk_rec_name(&recs[i]));
        pgk_json_number(&v->j, "count", recs[i].count);
        pgk_json_end_object(&v->j);
    }
    pgk_json_end_array(&v->j);
}

static void put_lines(struct view *v, const struct pgk_sample_recs *recs)
{
    struct pgk_sample_place place;
    pgk_json_array(&v->j, "lines");
    for (uint32_t i = 0; i < recs->n;) {
        i = pgk_order_place(&v->order, recs, i, &place);
        pgk_json_object(&v->j, NULL);
        put_loc(v, place.loc);
        if (place.has_body)
            pgk_json_number(&v->j, "samples", place.samples);
        put_counts(v, "calls", place.targets, place.n_targets);
        put_counts(v, "vtables", place.vtables, place.n_vtables);
        pgk_json_end_object(&v->j);
    }
    pgk_json_end_array(&v->j);
}

/* Callers from the innermost out. */
static void put_callers(struct view *v, uint32_t top)
{
    const struct pgk_sample_node *nodes = v->p->nodes.v;
    pgk_json_array(&v->j, "callers");
    for (uint32_t id = top; nodes[id].parent; id = nodes[id].parent) {
        pgk_json_object(&v->j, NULL);
        put_name(v, nodes[nodes[id].parent].name);
        put_loc(v, nodes[id].loc);
        pgk_json_end_object(&v->j);
    }
    pgk_json_end_array(&v->j);
}

static void put_origin(struct view *v, uint32_t name)
{
    uint64_t first_run = pgk_sample_origin(v->p, name).first_run;
    const char *file = pgk_sample_file(v->p, name);
    if (*file)
        pgk_json_text(&v->j, "file", file);
    if (first_run)
        pgk_json_number(&v->j, "first_run", first_run);
}

/* A function or context of the profile, or an inlinee below one. */
static void put_node(struct view *v, uint32_t node, bool top)
{
    const struct pgk_sample_node *n = &v->p->nodes.v[node];
    bool inlinee = !(n->flags & PGK_NODE_CONTEXT);
    pgk_json_object(&v->j, NULL);
    put_name(v, n->name);
    if (inlinee)
        put_loc(v, n->loc);
    pgk_json_number(&v->j, "total", n->total);
    if (!inlinee)
        pgk_json_number(&v->j, "head", n->head);
    if (!inlinee)
        put_origin(v, n->name);
    if (n->checksum)
        pgk_json_hex(&v->j, "checksum", n->checksum, 16);
    if (n->attributes)
        pgk_json_number(&v->j, "attributes", n->attributes);
    put_lines(v, &n->recs);
    if (n->first_child) {
        pgk_json_array(&v->j, "inlinees");
        for (uint32_t c = n->first_child; c; c = pgk_sample_next(v->p, c))
            put_node(v, c, false);
        pgk_json_end_array(&v->j);
    }
    if (top && n->parent)
        put_callers(v, node);
    pgk_json_end_object(&v->j);
}

static void put_summary(struct pgk_json *j, const struct pgk_sample_summary *s)
{
    pgk_json_object(j, "summary");
    pgk_json_number(j, "total_count", s->total_count);
    pgk_json_number(j, "max_count", s->max_count);
    pgk_json_number(j, "max_function_count", s->max_function_count);
    pgk_json_number(j, "num_counts", s->num_counts);
    pgk_json_number(j, "num_functions", s->num_functions);
    pgk_json_array(j, "cutoffs");
    for (size_t i = 0; i < s->n_cutoffs; i++) {
        pgk_json_object(j, NULL);
        pgk_json_number(j, "ppm", s->cutoffs[i].ppm);
        pgk_json_number(j, "min_count", s->cutoffs[i].min_count);
        pgk_json_number(j, "num_counts", s->cutoffs[i].num_counts);
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
    pgk_json_end_object(j);
}

int pgk_sample_json(const struct pgk_sample *p, const struct pgk_sample_print_opts *opts,
                    struct pgk_text_out *out, struct pgk_err *err)
{
    struct view v = {.p = p, .order = {.p = p}};
    struct pgk_sample_summary summary = {.struct_size = sizeof summary};
    struct pgk_sample_info info = {.struct_size = sizeof info};
    size_t n = opts->top && opts->top < p->by_heat.n ? opts->top : p->by_heat.n;
    if (opts->of_one && opts->info && pgk_file_info_summary(opts->info))
        summary = *pgk_file_info_summary(opts->info);
    else
        PGK_TRY(pgk_sample_summarise(p, &summary, err));
    pgk_sample_info(p, &info);
    pgk_json_begin(&v.j, out, PGK_JSON_TIGHT);
    pgk_json_object(&v.j, NULL);
    pgk_json_text(&v.j, "schema", "pgokit-sample-1");
    pgk_json_flag(&v.j, "contexts", info.contexts);
    pgk_json_flag(&v.j, "probes", info.probes);
    put_summary(&v.j, &summary);
    pgk_json_line(&v.j, 0);
    pgk_json_array(&v.j, "functions");
    for (size_t i = 0; i < n; i++) {
        pgk_json_line(&v.j, 0);
        put_node(&v, p->by_heat.v[i], true);
    }
    pgk_json_line(&v.j, 0);
    pgk_json_end_array(&v.j);
    pgk_json_end_object(&v.j);
    pgk_text_lit(out, "\n");
    pgk_text_flush(out);
    bool failed = v.order.failed;
    pgk_order_free(&v.order);
    return failed ? pgk_fail_nomem(err) : 0;
}

int pgk_sample_print_json(const struct pgk_sample *profile,
                          const struct pgk_sample_print_opts *given, FILE *out, struct pgk_err *err)
{
    struct pgk_sample_print_opts opts;
    struct pgk_text_out text;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    pgk_text_to_file(&text, out);
    return pgk_sample_json(profile, &opts, &text, err);
}

/* ---- two profiles ---- */

static void put_split(struct pgk_json *j, const char *key, uint64_t both, uint64_t base,
                      uint64_t test)
{
    pgk_json_object(j, key);
    pgk_json_number(j, "both", both);
    pgk_json_number(j, "base", base);
    pgk_json_number(j, "test", test);
    pgk_json_end_object(j);
}

static void put_change(struct pgk_json *j, const struct pgk_sample_change *c)
{
    pgk_json_object(j, NULL);
    pgk_json_text(j, "function", c->function);
    pgk_json_number(j, "base_samples", c->base_samples);
    pgk_json_number(j, "test_samples", c->test_samples);
    pgk_json_double(j, "base_share", c->base_share);
    pgk_json_double(j, "test_share", c->test_share);
    pgk_json_double(j, "similarity", c->similarity);
    pgk_json_double(j, "overlap", c->overlap);
    pgk_json_end_object(j);
}

int pgk_sample_diff_print_json(const struct pgk_sample_diff *diff, size_t top, FILE *out,
                               struct pgk_err *err)
{
    const struct pgk_sample_overlap *v = pgk_sample_diff_overlap(diff);
    size_t n;
    const struct pgk_sample_change *changes = pgk_sample_diff_changes(diff, &n);
    struct pgk_text_out text;
    struct pgk_json j;
    (void)err;
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_TIGHT);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "schema", "pgokit-sample-diff-1");
    pgk_json_double(&j, "similarity", v->similarity);
    pgk_json_double(&j, "sample_overlap", v->sample_overlap);
    pgk_json_double(&j, "base_unique", v->base_unique);
    pgk_json_double(&j, "test_unique", v->test_unique);
    pgk_json_number(&j, "base_samples", v->base_samples);
    pgk_json_number(&j, "test_samples", v->test_samples);
    put_split(&j, "functions", v->functions_both, v->functions_base, v->functions_test);
    put_split(&j, "hot_functions", v->hot_functions_both, v->hot_functions_base,
              v->hot_functions_test);
    put_split(&j, "hot_lines", v->hot_lines_both, v->hot_lines_base, v->hot_lines_test);
    pgk_json_array(&j, "changes");
    for (size_t i = 0; i < n && (!top || i < top); i++)
        put_change(&j, &changes[i]);
    pgk_json_end_array(&j);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
    return 0;
}
