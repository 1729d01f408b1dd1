/* A sample profile as JSON, schema "pgokit-sample-1". docs/formats/sample-json.md
 *
 * Objects are made and printed one function at a time, so that memory does not grow with the
 * profile. */
#include "fail.h"
#include "opts.h"
#include "pgokit/report.h"
#include "sample_order.h"

#include <inttypes.h>
#include <json-c/json.h>

struct view {
    const struct pgk_sample *p;
    struct pgk_sample_order order;
};

static void put(struct json_object *o, const char *key, struct json_object *value)
{
    json_object_object_add(o, key, value);
}

static struct json_object *number(uint64_t v)
{
    return json_object_new_uint64(v);
}

/* GUIDs are beyond what many readers of JSON take for a number. */
static struct json_object *guid_text(uint64_t guid)
{
    char text[24];
    snprintf(text, sizeof text, "0x%016" PRIx64, guid);
    return json_object_new_string(text);
}

static void put_name(struct view *v, struct json_object *o, uint32_t name)
{
    const struct pgk_sample_name *n = &v->p->names.v.v[name];
    if (n->s)
        put(o, "name", json_object_new_string_len(n->s, (int)n->len));
    else
        put(o, "guid", guid_text(n->guid));
}

static void put_loc(struct json_object *o, uint64_t loc)
{
    put(o, "line", number(pgk_sample_line(loc)));
    if (pgk_sample_discriminator(loc))
        put(o, "discriminator", number(pgk_sample_discriminator(loc)));
}

static struct json_object *counts_json(struct view *v, const struct pgk_sample_rec *recs, size_t n)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < n; i++) {
        struct json_object *o = json_object_new_object();
        put_name(v, o, pgk_rec_name(&recs[i]));
        put(o, "count", number(recs[i].count));
        json_object_array_add(array, o);
    }
    return array;
}

static struct json_object *node_json(struct view *v, uint32_t node);

static struct json_object *lines_json(struct view *v, const struct pgk_sample_recs *recs)
{
    struct json_object *array = json_object_new_array();
    struct pgk_sample_place place;
    for (uint32_t i = 0; i < recs->n;) {
        i = pgk_order_place(&v->order, recs, i, &place);
        struct json_object *o = json_object_new_object();
        put_loc(o, place.loc);
        if (place.has_body)
            put(o, "samples", number(place.samples));
        if (place.n_targets)
            put(o, "calls", counts_json(v, place.targets, place.n_targets));
        if (place.n_vtables)
            put(o, "vtables", counts_json(v, place.vtables, place.n_vtables));
        json_object_array_add(array, o);
    }
    return array;
}

static struct json_object *node_json(struct view *v, uint32_t node)
{
    const struct pgk_sample_node *n = &v->p->nodes.v[node];
    struct json_object *o = json_object_new_object();
    put_name(v, o, n->name);
    if (!(n->flags & PGK_NODE_CONTEXT))
        put_loc(o, n->loc);
    put(o, "total", number(n->total));
    if (n->flags & PGK_NODE_CONTEXT)
        put(o, "head", number(n->head));
    if (n->checksum)
        put(o, "checksum", guid_text(n->checksum));
    if (n->attributes)
        put(o, "attributes", number(n->attributes));
    put(o, "lines", lines_json(v, &n->recs));
    if (n->first_child) {
        struct json_object *inlinees = json_object_new_array();
        for (uint32_t c = n->first_child; c; c = pgk_sample_next(v->p, c))
            json_object_array_add(inlinees, node_json(v, c));
        put(o, "inlinees", inlinees);
    }
    return o;
}

/* Callers from the innermost out. */
static struct json_object *callers_json(struct view *v, uint32_t top)
{
    struct json_object *array = json_object_new_array();
    for (uint32_t id = top; v->p->nodes.v[id].parent; id = v->p->nodes.v[id].parent) {
        struct json_object *o = json_object_new_object();
        put_name(v, o, v->p->nodes.v[v->p->nodes.v[id].parent].name);
        put_loc(o, v->p->nodes.v[id].loc);
        json_object_array_add(array, o);
    }
    return array;
}

static struct json_object *summary_json(const struct pgk_sample_summary *s)
{
    struct json_object *o = json_object_new_object(), *cutoffs = json_object_new_array();
    put(o, "total_count", number(s->total_count));
    put(o, "max_count", number(s->max_count));
    put(o, "max_function_count", number(s->max_function_count));
    put(o, "num_counts", number(s->num_counts));
    put(o, "num_functions", number(s->num_functions));
    for (size_t i = 0; i < s->n_cutoffs; i++) {
        struct json_object *c = json_object_new_object();
        put(c, "ppm", number(s->cutoffs[i].ppm));
        put(c, "min_count", number(s->cutoffs[i].min_count));
        put(c, "num_counts", number(s->cutoffs[i].num_counts));
        json_object_array_add(cutoffs, c);
    }
    put(o, "cutoffs", cutoffs);
    return o;
}

static void print(struct json_object *o, FILE *out)
{
    int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
    fputs(json_object_to_json_string_ext(o, flags), out);
    json_object_put(o);
}

int pgk_report_sample_json(const struct pgk_sample *p, const struct pgk_report_sample_opts *given,
                           FILE *out, struct pgk_err *err)
{
    struct pgk_report_sample_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct view v = {.p = p, .order = {.p = p}};
    struct pgk_sample_summary summary;
    struct pgk_sample_info info = {.struct_size = sizeof info};
    size_t n = opts->top && opts->top < p->by_heat.n ? opts->top : p->by_heat.n;
    if (opts->of_one && opts->info && opts->info->has_summary)
        summary = opts->info->summary;
    else
        PGK_TRY(pgk_sample_summarise(p, &summary, err));
    pgk_sample_info(p, &info);
    fprintf(out, "{\"schema\":\"pgokit-sample-1\",\"contexts\":%s,\"probes\":%s,",
            info.contexts ? "true" : "false", info.probes ? "true" : "false");
    fputs("\"summary\":", out);
    print(summary_json(&summary), out);
    fputs(",\n\"functions\":[", out);
    for (size_t i = 0; i < n; i++) {
        uint32_t top = p->by_heat.v[i];
        struct json_object *o = node_json(&v, top);
        if (p->nodes.v[top].parent)
            put(o, "callers", callers_json(&v, top));
        fputs(i ? ",\n" : "\n", out);
        print(o, out);
    }
    fputs("\n]}\n", out);
    bool failed = v.order.failed;
    pgk_order_free(&v.order);
    return failed ? pgk_fail_nomem(err) : 0;
}

static struct json_object *split_json(uint64_t both, uint64_t base, uint64_t test)
{
    struct json_object *o = json_object_new_object();
    put(o, "both", number(both));
    put(o, "base", number(base));
    put(o, "test", number(test));
    return o;
}

static struct json_object *change_json(const struct pgk_sample_change *c)
{
    struct json_object *o = json_object_new_object();
    put(o, "function", json_object_new_string(c->function));
    put(o, "base_samples", number(c->base_samples));
    put(o, "test_samples", number(c->test_samples));
    put(o, "base_share", json_object_new_double(c->base_share));
    put(o, "test_share", json_object_new_double(c->test_share));
    put(o, "similarity", json_object_new_double(c->similarity));
    put(o, "overlap", json_object_new_double(c->overlap));
    return o;
}

int pgk_report_sample_diff_json(const struct pgk_sample_diff *diff, size_t top, FILE *out,
                                struct pgk_err *err)
{
    const struct pgk_sample_overlap *v = pgk_sample_diff_overlap(diff);
    struct json_object *o = json_object_new_object(), *functions = json_object_new_array();
    size_t n;
    const struct pgk_sample_change *changes = pgk_sample_diff_changes(diff, &n);
    (void)err;
    put(o, "schema", json_object_new_string("pgokit-sample-diff-1"));
    put(o, "similarity", json_object_new_double(v->similarity));
    put(o, "sample_overlap", json_object_new_double(v->sample_overlap));
    put(o, "base_unique", json_object_new_double(v->base_unique));
    put(o, "test_unique", json_object_new_double(v->test_unique));
    put(o, "base_samples", number(v->base_samples));
    put(o, "test_samples", number(v->test_samples));
    put(o, "functions", split_json(v->functions_both, v->functions_base, v->functions_test));
    put(o, "hot_functions", split_json(v->hot_functions_both, v->hot_functions_base,
                                       v->hot_functions_test));
    put(o, "hot_lines", split_json(v->hot_lines_both, v->hot_lines_base, v->hot_lines_test));
    for (size_t i = 0; i < n && (!top || i < top); i++)
        json_object_array_add(functions, change_json(&changes[i]));
    put(o, "changes", functions);
    print(o, out);
    fputc('\n', out);
    return 0;
}
