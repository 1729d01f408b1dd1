/* Order, totals and names of an instrumentation profile. */
#include "instr_view.h"

#include "demangle.h"
#include "mem.h"
#include "pattern.h"
#include "pgokit/human.h"

#include <stdlib.h>
#include <string.h>

const char *pgk_function_pseudo(const struct pgk_instr_function *f)
{
    return f->counts[0] == UINT64_MAX ? "hot" : f->counts[0] == UINT64_MAX - 1 ? "warm" : NULL;
}

double pgk_function_total(const struct pgk_instr_function *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->n_counts && !pgk_function_pseudo(f); i++)
        sum += (double)f->counts[i];
    return sum;
}

uint64_t pgk_function_max(const struct pgk_instr_function *f)
{
    uint64_t max = 0;
    for (size_t i = 0; i < f->n_counts && !pgk_function_pseudo(f); i++)
        max = f->counts[i] > max ? f->counts[i] : max;
    return max;
}

void pgk_instr_totals(const struct pgk_instr *p, struct pgk_instr_totals *t)
{
    *t = (struct pgk_instr_totals){.functions = pgk_instr_functions(p)};
    for (size_t i = 0; i < t->functions; i++) {
        struct pgk_instr_function f = {.struct_size = sizeof f};
        pgk_instr_function(p, i, &f);
        t->ran += pgk_function_pseudo(&f) || pgk_function_max(&f);
        t->contextual += f.contextual;
        t->bitmaps += f.n_bitmap > 0;
        t->uniformities += pgk_instr_uniformity(p, i, NULL, 0) > 0;
        t->estimated += pgk_function_pseudo(&f) != NULL;
        t->count += pgk_function_total(&f);
        for (int k = 0; k < PGK_VALUE_KINDS; k++)
            t->sites[k] += pgk_instr_sites(p, i, (enum pgk_value_kind)k);
    }
    t->plain.struct_size = t->in_context.struct_size = sizeof t->plain;
    pgk_instr_summary(p, false, &t->plain);
    pgk_instr_summary(p, true, &t->in_context);
    t->counters = t->plain.counters + t->in_context.counters;
}

struct ranked {
    double key;
    size_t i;
};

static double sort_key(const struct pgk_instr_function *f, enum pgk_instr_sort sort)
{
    switch (sort) {
    case PGK_INSTR_SORT_ENTRY:
        return pgk_function_pseudo(f) ? 0 : (double)f->counts[0];
    case PGK_INSTR_SORT_MAX:
        return (double)pgk_function_max(f);
    case PGK_INSTR_SORT_TOTAL:
        return pgk_function_total(f);
    case PGK_INSTR_SORT_NAME:
    case PGK_INSTR_SORTS:
        break;
    }
    return 0;
}

static int by_name(const struct pgk_instr *p, size_t a, size_t b)
{
    struct pgk_instr_function f = {.struct_size = sizeof f}, g = {.struct_size = sizeof g};
    pgk_instr_function(p, a, &f);
    pgk_instr_function(p, b, &g);
    int d = strcmp(f.name, g.name);
    return d ? d : f.hash < g.hash ? -1 : f.hash > g.hash;
}

static int by_key(const void *a, const void *b, void *ctx)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return by_name(ctx, x->i, y->i);
}

bool pgk_function_in_cutoffs(const struct pgk_instr_function *f,
                             const struct pgk_instr_print_opts *opts)
{
    uint64_t max = pgk_function_max(f);
    bool is_counted = !pgk_function_pseudo(f) || (!opts->value_cutoff && !opts->below_cutoff);
    return (f->contextual || !opts->contextual) && is_counted && max >= opts->value_cutoff &&
           (!opts->below_cutoff || max < opts->below_cutoff);
}

/* Which functions are wanted. */
struct choice {
    const struct pgk_instr_print_opts *opts;
    bool exact; /* some function has the very name */
    struct pgk_pattern pattern;
};

static int choose(struct choice *c, const struct pgk_instr *p,
                  const struct pgk_instr_print_opts *opts, struct pgk_err *err)
{
    *c = (struct choice){.opts = opts};
    for (size_t i = 0; opts->function && !c->exact && i < pgk_instr_functions(p); i++) {
        struct pgk_instr_function f = {.struct_size = sizeof f};
        pgk_instr_function(p, i, &f);
        c->exact = !strcmp(opts->function, f.name);
    }
    return c->exact ? 0 : pgk_pattern_compile(&c->pattern, opts->function, err);
}

static bool is_wanted(const struct choice *c, const struct pgk_instr_function *f)
{
    const char *name = c->opts->function;
    bool named = !name || (c->exact ? !strcmp(name, f->name)
                                    : pgk_pattern_matches(&c->pattern, f->name));
    return named && pgk_function_in_cutoffs(f, c->opts);
}

static size_t rank(struct ranked *ranked, const struct pgk_instr *p, const struct choice *c)
{
    size_t n = 0;
    for (size_t i = 0; i < pgk_instr_functions(p); i++) {
        struct pgk_instr_function f = {.struct_size = sizeof f};
        pgk_instr_function(p, i, &f);
        if (is_wanted(c, &f))
            ranked[n++] = (struct ranked){sort_key(&f, c->opts->sort), i};
    }
    if (n)
        qsort_r(ranked, n, sizeof *ranked, by_key, (void *)(uintptr_t)p);
    return n;
}

int pgk_instr_ranking(const struct pgk_instr *p, const struct pgk_instr_print_opts *opts,
                      size_t **order, size_t *count, struct pgk_err *err)
{
    struct choice c;
    PGK_TRY(choose(&c, p, opts, err));
    size_t all = pgk_instr_functions(p);
    struct ranked *ranked = pgk_mem_alloc(all + 1, sizeof *ranked);
    size_t *out = pgk_mem_alloc(all + 1, sizeof *out);
    size_t n = ranked && out ? rank(ranked, p, &c) : 0;
    pgk_pattern_free(&c.pattern);
    if (!ranked || !out) {
        pgk_mem_free(ranked);
        pgk_mem_free(out);
        return pgk_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = ranked[i].i;
    pgk_mem_free(ranked);
    *order = out;
    *count = opts->top && opts->top < n ? opts->top : n;
    return 0;
}

const char *pgk_instr_shown_name(char *buf, size_t size, const char *name)
{
    char file[160] = "";
    const char *symbol = strrchr(name, ';');
    if (!symbol)
        symbol = strrchr(name, ':');
    if (symbol && symbol[1])
        snprintf(file, sizeof file, "%.*s",
                 (int)(symbol + 1 - name < 150 ? symbol + 1 - name : 150), name);
    const char *plain = *file ? symbol + 1 : name;
    char *demangled = pgk_demangle(plain);
    char text[4096];
    snprintf(text, sizeof text, "%s%s", file, demangled ? demangled : plain);
    pgk_mem_free(demangled);
    return pgk_human_text(buf, size, text);
}

const char *pgk_instr_fitting_name(char *buf, size_t size, const struct pgk_instr_print_opts *opts,
                                   const char *name, unsigned at)
{
    enum { LEAST = 16 };
    pgk_instr_shown_name(buf, size, name);
    char *copy = opts->width ? pgk_mem_strdup(buf) : NULL;
    if (!copy)
        return buf;
    copy = pgk_fit_name(copy, opts->width > at + LEAST ? opts->width - at : LEAST);
    snprintf(buf, size, "%s", copy);
    pgk_mem_free(copy);
    return buf;
}
