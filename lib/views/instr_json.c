/* An instrumentation profile as JSON, schema "pgokit-instr-1". docs/formats/instr-json.md */
#include "instr_summary.h"
#include "instr_view.h"

#include "json_out.h"
#include "mem.h"
#include "opts.h"
#include "saturate.h"

static void put_value(struct pgk_json *j, const struct pgk_instr *p, enum pgk_value_kind kind,
                      const struct pgk_instr_value *v)
{
    const char *name =
        kind == PGK_VALUE_SIZE || !v->value ? NULL : pgk_instr_name(p, kind, v->value);
    pgk_json_object(j, NULL);
    if (name)
        pgk_json_text(j, "name", name);
    if (kind == PGK_VALUE_SIZE)
        pgk_json_number(j, "value", v->value);
    else
        pgk_json_hex(j, "value", v->value, 16);
    pgk_json_number(j, "count", v->count);
    pgk_json_end_object(j);
}

static int put_sites(struct pgk_json *j, const struct pgk_instr *p, size_t i,
                     enum pgk_value_kind kind, size_t n_sites, struct pgk_err *err)
{
    static const char *const keys[] = {"calls", "sizes", "vtables"};
    pgk_json_array(j, keys[kind]);
    for (size_t s = 0; s < n_sites; s++) {
        struct pgk_instr_value one;
        size_t n = pgk_instr_site(p, i, kind, s, &one, 0);
        struct pgk_instr_value *v = pgk_mem_alloc(n, sizeof *v);
        if (!v)
            return pgk_fail_nomem(err);
        pgk_instr_site(p, i, kind, s, v, n);
        pgk_json_array(j, NULL);
        for (size_t k = 0; k < n; k++)
            put_value(j, p, kind, &v[k]);
        pgk_json_end_array(j);
        pgk_mem_free(v);
    }
    pgk_json_end_array(j);
    return 0;
}

static int put_uniformity(struct pgk_json *j, const struct pgk_instr *p, size_t i, size_t n_counts,
                          struct pgk_err *err)
{
    size_t n = pgk_instr_uniformity(p, i, NULL, 0);
    uint8_t *bits = n ? pgk_mem_alloc(n, 1) : NULL;
    if (!n)
        return 0;
    if (!bits)
        return pgk_fail_nomem(err);
    pgk_instr_uniformity(p, i, bits, n);
    pgk_json_array(j, "uniform");
    for (size_t c = 0; c < n_counts; c++)
        pgk_json_number(j, NULL, bits[c / 8] >> c % 8 & 1);
    pgk_json_end_array(j);
    pgk_mem_free(bits);
    return 0;
}

static int put_function(struct pgk_json *j, const struct pgk_instr *p, size_t i,
                        struct pgk_err *err)
{
    struct pgk_instr_function f = {.struct_size = sizeof f};
    pgk_instr_function(p, i, &f);
    pgk_json_line(j, 0);
    pgk_json_object(j, NULL);
    pgk_json_text_n(j, "name", f.name, f.name_len);
    pgk_json_hex(j, "id", f.id, 16);
    pgk_json_hex(j, "hash", f.hash, 16);
    if (f.contextual)
        pgk_json_flag(j, "contextual", true);
    if (pgk_function_pseudo(&f))
        pgk_json_text(j, "known_as", pgk_function_pseudo(&f));
    pgk_json_array(j, "counts");
    for (size_t c = 0; c < f.n_counts && !pgk_function_pseudo(&f); c++)
        pgk_json_number(j, NULL, f.counts[c]);
    pgk_json_end_array(j);
    if (f.n_bitmap) {
        pgk_json_array(j, "bitmap");
        for (size_t b = 0; b < f.n_bitmap; b++)
            pgk_json_number(j, NULL, f.bitmap[b]);
        pgk_json_end_array(j);
    }
    PGK_TRY(put_uniformity(j, p, i, f.n_counts, err));
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        if (pgk_instr_sites(p, i, (enum pgk_value_kind)k))
            PGK_TRY(put_sites(j, p, i, (enum pgk_value_kind)k,
                              pgk_instr_sites(p, i, (enum pgk_value_kind)k), err));
    pgk_json_end_object(j);
    return 0;
}

static void put_counts(struct pgk_json *j, const struct pgk_instr_summary *s)
{
    pgk_json_number(j, "counters", s->counters);
    pgk_json_number(j, "total_count", s->total_count);
    pgk_json_number(j, "max_entry_count", s->max_entry_count);
    pgk_json_number(j, "max_count", s->max_count);
}

/* The summary of these functions, as compilers use it. */
static void put_summary(struct pgk_json *j, const char *key, const struct pgk_instr_summary *s)
{
    pgk_json_object(j, key);
    pgk_json_number(j, "functions", s->functions);
    put_counts(j, s);
    pgk_json_end_object(j);
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
        .total_count = pgk_add_saturated(a->total_count, b->total_count),
        .max_entry_count = larger(a->max_entry_count, b->max_entry_count),
        .max_count = larger(a->max_count, b->max_count),
    };
}

static void put_totals(struct pgk_json *j, const struct pgk_instr *p)
{
    struct pgk_instr_totals t;
    pgk_instr_totals(p, &t);
    const struct pgk_instr_summary all = whole(&t);
    pgk_json_line(j, 0);
    pgk_json_object(j, "totals");
    pgk_json_number(j, "functions", t.functions);
    pgk_json_number(j, "functions_ran", t.ran);
    pgk_json_number(j, "functions_known_as", t.estimated);
    put_counts(j, &all);
    pgk_json_number(j, "temporal_traces", pgk_instr_traces(p));
    put_summary(j, "without_context", &t.plain);
    if (t.contextual)
        put_summary(j, "in_context", &t.in_context);
    pgk_json_end_object(j);
}

static void put_binary_ids(struct pgk_json *j, const struct pgk_instr *p)
{
    pgk_json_line(j, 0);
    pgk_json_array(j, "binary_ids");
    for (size_t i = 0; i < pgk_instr_binary_ids(p); i++) {
        size_t size;
        const uint8_t *id = pgk_instr_binary_id(p, i, &size);
        pgk_json_hex_bytes(j, NULL, id, size);
    }
    pgk_json_end_array(j);
}

static int put_functions(struct pgk_json *j, const struct pgk_instr *p, const size_t *order,
                         size_t n, struct pgk_err *err)
{
    pgk_json_line(j, 0);
    pgk_json_array(j, "functions");
    for (size_t i = 0; i < n; i++)
        PGK_TRY(put_function(j, p, order[i], err));
    pgk_json_line(j, 0);
    pgk_json_end_array(j);
    return 0;
}

int pgk_instr_print_json(const struct pgk_instr *p, const struct pgk_instr_print_opts *given,
                         FILE *out, struct pgk_err *err)
{
    struct pgk_instr_print_opts opts;
    struct pgk_text_out text;
    struct pgk_json j;
    size_t *order, n;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    opts.contextual = opts.contextual && pgk_instr_context_bit(p);
    PGK_TRY(pgk_instr_ranking(p, &opts, &order, &n, err));
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_OUTLINE);
    pgk_json_object(&j, NULL);
    pgk_json_line(&j, 0);
    pgk_json_text(&j, "schema", "pgokit-instr-1");
    pgk_json_line(&j, 0);
    pgk_json_text(&j, "instrumentation", pgk_instr_origin_text(p));
    put_totals(&j, p);
    put_binary_ids(&j, p);
    int status = put_functions(&j, p, order, n, err);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
    pgk_mem_free(order);
    return status;
}
