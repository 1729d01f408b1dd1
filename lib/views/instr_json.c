/* An instrumentation profile as JSON, schema "pgokit-instr-1". docs/formats/instr-json.md */
#include "instr_view.h"

#include "mem.h"
#include "opts.h"

#include <inttypes.h>
#include <json-c/json.h>

static void put(struct json_object *o, const char *key, struct json_object *value)
{
    json_object_object_add(o, key, value);
}

static struct json_object *hex(uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "0x%016" PRIx64, v);
    return json_object_new_string(text);
}

static struct json_object *value_json(const struct pgk_instr *p, enum pgk_value_kind kind,
                                      const struct pgk_instr_value *v)
{
    struct json_object *o = json_object_new_object();
    const char *name =
        kind == PGK_VALUE_SIZE || !v->value ? NULL : pgk_instr_name(p, kind, v->value);
    if (name)
        put(o, "name", json_object_new_string(name));
    put(o, "value", kind == PGK_VALUE_SIZE ? json_object_new_uint64(v->value) : hex(v->value));
    put(o, "count", json_object_new_uint64(v->count));
    return o;
}

static struct json_object *sites_json(const struct pgk_instr *p, size_t i, enum pgk_value_kind kind,
                                      size_t n_sites)
{
    struct json_object *sites = json_object_new_array();
    for (size_t s = 0; s < n_sites; s++) {
        struct pgk_instr_value one;
        size_t n = pgk_instr_site(p, i, kind, s, &one, 0);
        struct pgk_instr_value *v = pgk_mem_alloc(n + 1, sizeof *v);
        struct json_object *values = json_object_new_array();
        if (v)
            pgk_instr_site(p, i, kind, s, v, n);
        for (size_t k = 0; v && k < n; k++)
            json_object_array_add(values, value_json(p, kind, &v[k]));
        pgk_mem_free(v);
        json_object_array_add(sites, values);
    }
    return sites;
}

static struct json_object *function_json(const struct pgk_instr *p, size_t i)
{
    static const char *const keys[] = {"calls", "sizes", "vtables"};
    struct json_object *o = json_object_new_object(), *counts = json_object_new_array();
    struct pgk_instr_function f;
    pgk_instr_function(p, i, &f);
    put(o, "name", json_object_new_string_len(f.name, (int)f.name_len));
    put(o, "id", hex(f.id));
    put(o, "hash", hex(f.hash));
    if (f.contextual)
        put(o, "contextual", json_object_new_boolean(true));
    if (pgk_function_pseudo(&f))
        put(o, "known_as", json_object_new_string(pgk_function_pseudo(&f)));
    for (size_t c = 0; c < f.n_counts && !pgk_function_pseudo(&f); c++)
        json_object_array_add(counts, json_object_new_uint64(f.counts[c]));
    put(o, "counts", counts);
    if (f.n_bitmap) {
        struct json_object *bytes = json_object_new_array();
        for (size_t b = 0; b < f.n_bitmap; b++)
            json_object_array_add(bytes, json_object_new_int(f.bitmap[b]));
        put(o, "bitmap", bytes);
    }
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        if (f.n_sites[k])
            put(o, keys[k], sites_json(p, i, (enum pgk_value_kind)k, f.n_sites[k]));
    return o;
}

static void print(FILE *out, struct json_object *o)
{
    fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE), out);
    json_object_put(o);
}

static void put_counts(struct json_object *o, const struct pgk_instr_summary *s)
{
    put(o, "counters", json_object_new_uint64(s->counters));
    put(o, "total_count", json_object_new_uint64(s->total_count));
    put(o, "max_entry_count", json_object_new_uint64(s->max_entry_count));
    put(o, "max_count", json_object_new_uint64(s->max_count));
}

/* What compilers take for the summary of these functions. */
static struct json_object *summary_json(const struct pgk_instr_summary *s)
{
    struct json_object *o = json_object_new_object();
    put(o, "functions", json_object_new_uint64(s->functions));
    put_counts(o, s);
    return o;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct pgk_instr_summary whole(const struct pgk_instr_totals *t)
{
    const struct pgk_instr_summary *a = &t->plain, *b = &t->in_context;
    return (struct pgk_instr_summary){
        .counters = t->counters,
        .total_count = a->total_count + b->total_count,
        .max_entry_count = larger(a->max_entry_count, b->max_entry_count),
        .max_count = larger(a->max_count, b->max_count),
    };
}

static struct json_object *totals_json(const struct pgk_instr *p)
{
    struct json_object *o = json_object_new_object();
    struct pgk_instr_totals t;
    pgk_instr_totals(p, &t);
    const struct pgk_instr_summary all = whole(&t);
    put(o, "functions", json_object_new_uint64(t.functions));
    put(o, "functions_ran", json_object_new_uint64(t.ran));
    put(o, "functions_known_as", json_object_new_uint64(t.estimated));
    put_counts(o, &all);
    put(o, "temporal_traces", json_object_new_uint64(pgk_instr_traces(p)));
    put(o, "without_context", summary_json(&t.plain));
    if (t.contextual)
        put(o, "in_context", summary_json(&t.in_context));
    return o;
}

static struct json_object *ids_json(const struct pgk_instr *p)
{
    struct json_object *ids = json_object_new_array();
    for (size_t i = 0; i < pgk_instr_binary_ids(p); i++) {
        size_t size;
        const uint8_t *id = pgk_instr_binary_id(p, i, &size);
        char text[129] = "";
        for (size_t b = 0; b < size && b < 64; b++)
            snprintf(text + 2 * b, 3, "%02x", id[b]);
        json_object_array_add(ids, json_object_new_string(text));
    }
    return ids;
}

int pgk_report_instr_json(const struct pgk_instr *p, const struct pgk_instr_report_opts *given,
                          FILE *out, struct pgk_err *err)
{
    struct pgk_instr_report_opts taken, *o = &taken;
    PGK_TRY(PGK_OPTS_TAKE(o, given, err));
    size_t *order, n;
    PGK_TRY(pgk_instr_ranking(p, o, &order, &n, err));
    fprintf(out, "{\n\"schema\": \"pgokit-instr-1\",\n\"instrumentation\": \"%s\",\n\"totals\": ",
            pgk_instr_origin_text(p));
    print(out, totals_json(p));
    fputs(",\n\"binary_ids\": ", out);
    print(out, ids_json(p));
    fputs(",\n\"functions\": [", out);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n" : "\n", out);
        print(out, function_json(p, order[i]));
    }
    fputs("\n]}\n", out);
    pgk_mem_free(order);
    return 0;
}
