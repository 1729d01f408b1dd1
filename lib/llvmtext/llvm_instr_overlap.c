/* The overlap of counters as `llvm-profdata overlap` of LLVM 22 prints it: for each pair of counts
 * the smaller share of the sum on its side. */
#include "llvm_words.h"

#include "mem.h"
#include "opts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sums of counts, or shares of them. */
struct sums {
    uint64_t entries;
    double counts, values[PGK_VALUE_KINDS];
};

struct stats {
    struct sums base, test, overlap, mismatch, unique;
};

struct printer {
    const struct pgk_llvm_overlap_opts *o;
    FILE *out;
    struct stats all;
    bool failed;
};

static void add_function(struct sums *s, const struct pgk_instr_func *f)
{
    uint64_t sum = 0;
    s->entries += f->n_counts;
    for (uint32_t i = 0; i < f->n_counts; i++)
        sum += f->counts[i];
    s->counts += (double)sum;
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        for (uint32_t i = 0; i < f->n_sites[k]; i++) {
            const struct pgk_value_site *site = pgk_func_site(f, (enum pgk_value_kind)k, i);
            for (uint32_t v = 0; v < site->n; v++)
                s->values[k] += (double)site->v[v].count;
        }
}

static void add_profile(struct sums *s, const struct pgk_instr *p, bool contextual)
{
    uint64_t bit = pgk_instr_context_bit(p);
    for (size_t i = 0; i < p->funcs.n; i++)
        if (!bit || ((p->funcs.v[i].hash & bit) != 0) == contextual)
            add_function(s, &p->funcs.v[i]);
}

static double smaller_share(uint64_t base, double base_sum, uint64_t test, double test_sum)
{
    if (base_sum < 1 || test_sum < 1)
        return 0;
    double x = (double)base / base_sum, y = (double)test / test_sum;
    return x < y ? x : y;
}

/* A function of test that base lacks, or has in another shape. */
static void add_other(struct sums *to, const struct sums *function, const struct sums *test)
{
    to->entries++;
    to->counts += function->counts / test->counts;
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        if (test->values[k] >= 1)
            to->values[k] += function->values[k] / test->values[k];
}

static int by_value(const void *a, const void *b)
{
    const struct pgk_instr_value *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value;
}

static struct pgk_instr_value *sorted(const struct pgk_value_site *s)
{
    struct pgk_instr_value *v = pgk_mem_alloc(s->n + 1, sizeof *v);
    if (v && s->n) {
        memcpy(v, s->v, s->n * sizeof *v);
        qsort(v, s->n, sizeof *v, by_value);
    }
    return v;
}

static void compare_site(struct printer *w, struct stats *f, int kind,
                         const struct pgk_value_site *base, const struct pgk_value_site *test)
{
    struct pgk_instr_value *x = sorted(base), *y = sorted(test);
    w->failed |= !x || !y;
    for (uint32_t i = 0, k = 0; !w->failed && i < base->n && k < test->n;) {
        if (x[i].value != y[k].value) {
            x[i].value < y[k].value ? i++ : k++;
            continue;
        }
        w->all.overlap.values[kind] += smaller_share(x[i].count, w->all.base.values[kind],
                                                     y[k].count, w->all.test.values[kind]);
        f->overlap.values[kind] += smaller_share(x[i++].count, f->base.values[kind], y[k++].count,
                                                 f->test.values[kind]);
    }
    pgk_mem_free(x);
    pgk_mem_free(y);
}

static void put_stats(const struct printer *w, const struct stats *s, const char *entries)
{
    static const char *const kinds[] = {"IndirectCall", "MemOP", "VTable"};
    FILE *out = w->out;
    fprintf(out, "  # of %s overlap: %" PRIu64 "\n", entries, s->overlap.entries);
    if (s->mismatch.entries)
        fprintf(out, "  # of %s mismatch: %" PRIu64 "\n", entries, s->mismatch.entries);
    if (s->unique.entries)
        fprintf(out, "  # of %s only in test_profile: %" PRIu64 "\n", entries, s->unique.entries);
    fprintf(out, "  Edge profile overlap: %.3f%%\n", s->overlap.counts * 100);
    if (s->mismatch.entries)
        fprintf(out, "  Mismatched count percentage (Edge): %.3f%%\n", s->mismatch.counts * 100);
    if (s->unique.entries)
        fprintf(out, "  Percentage of Edge profile only in test_profile: %.3f%%\n",
                s->unique.counts * 100);
    fprintf(out, "  Edge profile base count sum: %.0f\n  Edge profile test count sum: %.0f\n",
            s->base.counts, s->test.counts);
    for (int k = 0; k < PGK_VALUE_KINDS; k++) {
        if (s->base.values[k] < 1 && s->test.values[k] < 1)
            continue;
        fprintf(out, "  %s profile overlap: %.3f%%\n", kinds[k], s->overlap.values[k] * 100);
        if (s->mismatch.entries)
            fprintf(out, "  Mismatched count percentage (%s): %.3f%%\n", kinds[k],
                    s->mismatch.values[k] * 100);
        if (s->unique.entries)
            fprintf(out, "  Percentage of %s profile only in test_profile: %.3f%%\n", kinds[k],
                    s->unique.values[k] * 100);
        fprintf(out, "  %s profile base count sum: %.0f\n  %s profile test count sum: %.0f\n",
                kinds[k], s->base.values[k], kinds[k], s->test.values[k]);
    }
}

static bool is_shown(const struct printer *w, const char *name, uint64_t max)
{
    const struct pgk_llvm_overlap_opts *o = w->o;
    return (o->function && *o->function && strstr(name, o->function)) ||
           (o->has_value_cutoff && max >= o->value_cutoff);
}

/* Both have it in the same shape. */
static void compare(struct printer *w, struct stats *f, const char *name,
                    const struct pgk_instr_func *base, const struct pgk_instr_func *test)
{
    uint64_t max = 0;
    add_function(&f->base, base);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        for (uint32_t i = 0; i < test->n_sites[k]; i++)
            compare_site(w, f, k, pgk_func_site(base, (enum pgk_value_kind)k, i),
                         pgk_func_site(test, (enum pgk_value_kind)k, i));
    for (uint32_t i = 0; i < test->n_counts; i++) {
        w->all.overlap.counts += smaller_share(base->counts[i], w->all.base.counts,
                                               test->counts[i], w->all.test.counts);
        f->overlap.counts += smaller_share(base->counts[i], f->base.counts, test->counts[i],
                                           f->test.counts);
        max = test->counts[i] > max ? test->counts[i] : max;
    }
    w->all.overlap.entries++;
    f->overlap.entries = test->n_counts;
    if (!is_shown(w, name, max))
        return;
    fprintf(w->out, "Function level:\n  Function: %s (Hash=%" PRIu64 ")\n", name, test->hash);
    put_stats(w, f, "edge counters");
}

static bool same_shape(const struct pgk_instr_func *f, const struct pgk_instr_func *g)
{
    return f->n_counts == g->n_counts && !memcmp(f->n_sites, g->n_sites, sizeof f->n_sites);
}

static void take_function(struct printer *w, const struct pgk_instr *base,
                          const struct pgk_instr *test, const struct pgk_instr_func *f,
                          const bool *base_has)
{
    const struct pgk_instr_name *name = &test->names.list.v[f->name];
    struct stats stats = {0};
    add_function(&stats.test, f);
    uint32_t there = pgk_names_find(&base->names, name->ref);
    uint32_t at = pgk_instr_find(base, name->ref, f->hash);
    if (there == PGK_INDEX_NONE || !base_has[there])
        add_other(&w->all.unique, &stats.test, &w->all.test);
    else if (stats.test.counts < 1)
        w->all.overlap.entries++;
    else if (at == PGK_INDEX_NONE || !same_shape(&base->funcs.v[at], f))
        add_other(&w->all.mismatch, &stats.test, &w->all.test);
    else
        compare(w, &stats, name->s, &base->funcs.v[at], f);
}

static bool *names_with_functions(const struct pgk_instr *p)
{
    bool *has = pgk_mem_zalloc(p->names.list.n + 1, sizeof *has);
    for (size_t i = 0; has && i < p->funcs.n; i++)
        has[p->funcs.v[i].name] = true;
    return has;
}

int pgk_instr_print_llvm_overlap(const struct pgk_instr *base, const struct pgk_instr *test,
                                 const struct pgk_llvm_overlap_opts *given, FILE *out,
                                 struct pgk_err *err)
{
    struct pgk_llvm_overlap_opts o;
    PGK_TRY(PGK_OPTS_TAKE(&o, given, err));
    struct printer w = {.o = &o, .out = out};
    add_profile(&w.all.base, base, o.contextual);
    add_profile(&w.all.test, test, o.contextual);
    if (w.all.base.counts < 1 || w.all.test.counts < 1) {
        fprintf(out, "Sum of edge counts for profile %s is 0.\n",
                w.all.base.counts < 1 ? o.base_title : o.test_title);
        return 0;
    }
    bool *has = names_with_functions(base);
    if (!has)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < test->funcs.n && !w.failed; i++)
        take_function(&w, base, test, &test->funcs.v[i], has);
    pgk_mem_free(has);
    if (w.failed)
        return pgk_fail_nomem(err);
    pgk_llvm_put_overlap_title(o.base_title, o.test_title, o.release, out);
    fputs("Program level:\n", out);
    put_stats(&w, &w.all, "functions");
    return 0;
}
