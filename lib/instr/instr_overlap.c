/* The overlap of two profiles, as llvm-profdata overlap computes it: for each pair of counters the
 * smaller share of its profile's total. */
#include "instr_model.h"
#include "opts.h"

#include <stdlib.h>

struct totals {
    double counters, values[PGK_VALUE_KINDS];
};

static bool is_of(const struct pgk_instr *p, size_t i, bool contextual)
{
    struct pgk_instr_function f = {.struct_size = sizeof f};
    pgk_instr_function(p, i, &f);
    return f.contextual == contextual && f.counts[0] < PGK_COUNT_WARM;
}

static struct totals totals(const struct pgk_instr *p, bool contextual)
{
    struct totals t = {0};
    for (size_t i = 0; i < p->funcs.n; i++) {
        const struct pgk_instr_func *f = &p->funcs.v[i];
        if (!is_of(p, i, contextual))
            continue;
        for (uint32_t c = 0; c < f->n_counts; c++)
            t.counters += (double)f->counts[c];
        const struct pgk_value_site *s = f->sites;
        for (int k = 0; k < PGK_VALUE_KINDS; k++)
            for (uint32_t n = f->n_sites[k]; n--; s++)
                for (uint32_t v = 0; v < s->n; v++)
                    t.values[k] += (double)s->v[v].count;
    }
    return t;
}

static double smaller_share(uint64_t base, double base_total, uint64_t test, double test_total)
{
    if (base_total < 1 || test_total < 1)
        return 0;
    double x = (double)base / base_total, y = (double)test / test_total;
    return x < y ? x : y;
}

static int by_value(const void *a, const void *b)
{
    const struct pgk_instr_value *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->count > y->count ? -1 : x->count < y->count;
}

/* Sites of one input are in its own order. */
static bool sorted_site(const struct pgk_value_site *s, struct pgk_instr_value **v)
{
    *v = pgk_mem_alloc(s->n + 1, sizeof **v);
    if (*v && s->n) {
        memcpy(*v, s->v, s->n * sizeof **v);
        qsort(*v, s->n, sizeof **v, by_value);
    }
    return *v != NULL;
}

static bool add_site(const struct pgk_value_site *base, double base_total,
                     const struct pgk_value_site *test, double test_total, double *share)
{
    struct pgk_instr_value *x = NULL, *y = NULL;
    bool ok = sorted_site(base, &x) && sorted_site(test, &y);
    for (uint32_t i = 0, k = 0; ok && i < base->n && k < test->n;) {
        if (x[i].value != y[k].value) {
            x[i].value < y[k].value ? i++ : k++;
            continue;
        }
        *share += smaller_share(x[i++].count, base_total, y[k++].count, test_total);
    }
    pgk_mem_free(x);
    pgk_mem_free(y);
    return ok;
}

static bool same_shape(const struct pgk_instr_func *f, const struct pgk_instr_func *g)
{
    return f->n_counts == g->n_counts && !memcmp(f->n_sites, g->n_sites, sizeof f->n_sites);
}

static bool add_function(const struct pgk_instr_func *f, const struct totals *base,
                         const struct pgk_instr_func *g, const struct totals *test,
                         struct pgk_instr_overlap *o)
{
    for (uint32_t c = 0; c < f->n_counts; c++)
        o->counters += smaller_share(f->counts[c], base->counters, g->counts[c], test->counters);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        for (uint32_t i = 0; i < f->n_sites[k]; i++)
            if (!add_site(pgk_func_site(f, (enum pgk_value_kind)k, i), base->values[k],
                          pgk_func_site(g, (enum pgk_value_kind)k, i), test->values[k],
                          &o->values[k]))
                return false;
    return true;
}

/* Names of the functions of a profile, by position in its names. */
static bool *names_of(const struct pgk_instr *p, bool contextual)
{
    bool *has = pgk_mem_zalloc(p->names.list.n + 1, sizeof *has);
    for (size_t i = 0; has && i < p->funcs.n; i++)
        if (is_of(p, i, contextual))
            has[p->funcs.v[i].name] = true;
    return has;
}

/* As llvm-profdata overlap: a function of the same name but another hash or shape is a mismatch,
 * not one that a side lacks. */
static int compare(const struct pgk_instr *base, const struct pgk_instr *test, bool contextual,
                   const bool *test_names, struct pgk_instr_overlap *o)
{
    const struct totals bt = totals(base, contextual), tt = totals(test, contextual);
    o->base_total = bt.counters;
    o->test_total = tt.counters;
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        o->values[k] = bt.values[k] || tt.values[k] ? 0 : -1;
    for (size_t i = 0; i < base->funcs.n; i++) {
        const struct pgk_instr_func *f = &base->funcs.v[i];
        uint64_t ref = base->names.list.v[f->name].ref;
        if (!is_of(base, i, contextual))
            continue;
        uint32_t at = pgk_instr_find(test, ref, f->hash), name = pgk_names_find(&test->names, ref);
        if (at != PGK_INDEX_NONE && is_of(test, at, contextual) &&
            same_shape(f, &test->funcs.v[at])) {
            o->matched++;
            if (!add_function(f, &bt, &test->funcs.v[at], &tt, o))
                return PGK_E_NOMEM;
        } else if (name != PGK_INDEX_NONE && test_names[name]) {
            o->mismatched++;
        } else {
            o->only_base++;
        }
    }
    return 0;
}

int pgk_instr_overlap(const struct pgk_instr *base, const struct pgk_instr *test, bool contextual,
                      struct pgk_instr_overlap *overlap, struct pgk_err *err)
{
    struct pgk_instr_overlap o = {0};
    if (pgk_instr_origin(base) != pgk_instr_origin(test))
        return pgk_fail(err, PGK_E_MISMATCH, .file = test->flags_file, .field = "instrumentation",
                        .found = pgk_instr_origin_text(test),
                        .expected = PGK_F("%s, as the other profile", pgk_instr_origin_text(base)),
                        .hint = "compare profiles of one kind of instrumentation");
    bool *names = names_of(test, contextual), *base_names = names_of(base, contextual);
    int status = names && base_names ? compare(base, test, contextual, names, &o) : PGK_E_NOMEM;
    for (size_t i = 0; !status && i < test->funcs.n; i++) {
        uint32_t name = pgk_names_find(&base->names, test->names.list.v[test->funcs.v[i].name].ref);
        o.only_test += is_of(test, i, contextual) && (name == PGK_INDEX_NONE || !base_names[name]);
    }
    pgk_mem_free(names);
    pgk_mem_free(base_names);
    if (status)
        return pgk_fail_nomem(err);
    if (!o.base_total || !o.test_total)
        return pgk_fail(err, PGK_E_EMPTY,
                        .file = !o.base_total ? base->flags_file : test->flags_file,
                        .found = "no counts", .hint = "there is nothing to compare");
    PGK_RESULT_GIVE(overlap, &o);
    return 0;
}

size_t pgk_instr_lookup(const struct pgk_instr *p, uint64_t id, uint64_t hash)
{
    uint32_t i = pgk_instr_find(p, id, hash);
    return i == PGK_INDEX_NONE ? SIZE_MAX : i;
}
