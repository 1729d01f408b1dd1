/* How two instrumentation profiles differ. */
#include "instr_view.h"

#include "json_out.h"
#include "markdown_out.h"
#include "mem.h"
#include "opts.h"
#include "pgokit/human.h"
#include "value_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A function's shares of the two wholes. */
struct change {
    struct pgk_instr_function f;
    double base, test;
};

struct diff {
    const struct pgk_instr_print_opts *opts;
    struct pgk_instr_overlap overlap;
    struct change *changes;
    size_t n, shown;
};

static int by_change(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    double p = fabs(x->test - x->base), q = fabs(y->test - y->base);
    if (p != q)
        return p > q ? -1 : 1;
    int d = strcmp(x->f.name, y->f.name);
    return d ? d : x->f.hash < y->f.hash ? -1 : x->f.hash > y->f.hash;
}

static double share_in(const struct pgk_instr *p, const struct pgk_instr_function *f, double total)
{
    size_t at = pgk_instr_lookup(p, f->id, f->hash);
    struct pgk_instr_function g = {.struct_size = sizeof g};
    if (at == SIZE_MAX || !total)
        return 0;
    pgk_instr_function(p, at, &g);
    return pgk_function_total(&g) / total;
}

static int find_changes(const struct pgk_instr *base, const struct pgk_instr *test, bool contextual,
                        struct diff *d, struct pgk_err *err)
{
    const struct pgk_instr *sides[] = {base, test};
    d->changes = pgk_mem_alloc(pgk_instr_functions(base) + pgk_instr_functions(test) + 1,
                               sizeof *d->changes);
    if (!d->changes)
        return pgk_fail_nomem(err);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < pgk_instr_functions(sides[s]); i++) {
            struct change *c = &d->changes[d->n];
            c->f.struct_size = sizeof c->f;
            pgk_instr_function(sides[s], i, &c->f);
            if (c->f.contextual != contextual ||
                (s && pgk_instr_lookup(base, c->f.id, c->f.hash) != SIZE_MAX))
                continue;
            c->base = share_in(base, &c->f, d->overlap.base_total);
            c->test = share_in(test, &c->f, d->overlap.test_total);
            d->n += c->base != c->test;
        }
    if (d->n)
        qsort(d->changes, d->n, sizeof *d->changes, by_change);
    return 0;
}

static void print_text(const struct diff *d, FILE *out)
{
    const struct pgk_instr_overlap *o = &d->overlap;
    fprintf(out, "  overlap           %.3f %% of the counters\n", 100 * o->counters);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        if (o->values[k] >= 0)
            fprintf(out, "                    %.3f %% of %s\n", 100 * o->values[k],
                    pgk_value_kind_name((enum pgk_value_kind)k));
    fprintf(out, "  functions         %zu in both, %zu changed, %zu only before, %zu only after\n",
            o->matched, o->mismatched, o->only_base, o->only_test);
    fprintf(out, "  counts            %.6g before, %.6g after\n", o->base_total, o->test_total);
    if (d->shown)
        fprintf(out, "\n%s  %8s  %8s  %10s  %s%s\n", d->opts->colour ? "\033[1m" : "", "before",
                "after", "change", "function", d->opts->colour ? "\033[0m" : "");
    for (size_t i = 0; i < d->shown; i++) {
        enum { NAME_AT = 34 };
        char name[4096];
        const struct change *c = &d->changes[i];
        fprintf(out, "  %6.2f %%  %6.2f %%  %+8.2f %%  %s\n", 100 * c->base, 100 * c->test,
                100 * (c->test - c->base),
                pgk_instr_fitting_name(name, sizeof name, d->opts, c->f.name, NAME_AT));
    }
    if (d->shown < d->n)
        fprintf(out, "  and %zu more (--top 0 shows all)\n", d->n - d->shown);
}

static void put_overlap(struct pgk_json *j, const struct pgk_instr_overlap *o)
{
    static const char *const keys[] = {"calls", "sizes", "vtables"};
    pgk_json_object(j, "overlap");
    pgk_json_double(j, "counters", o->counters);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        if (o->values[k] >= 0)
            pgk_json_double(j, keys[k], o->values[k]);
    pgk_json_number(j, "functions_matched", o->matched);
    pgk_json_number(j, "functions_mismatched", o->mismatched);
    pgk_json_number(j, "functions_only_base", o->only_base);
    pgk_json_number(j, "functions_only_test", o->only_test);
    pgk_json_double(j, "base_total", o->base_total);
    pgk_json_double(j, "test_total", o->test_total);
    pgk_json_end_object(j);
}

static void print_json(const struct diff *d, FILE *out)
{
    struct pgk_text_out text;
    struct pgk_json j;
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_PRETTY);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "schema", "pgokit-instr-diff-1");
    put_overlap(&j, &d->overlap);
    pgk_json_array(&j, "changes");
    for (size_t i = 0; i < d->shown; i++) {
        pgk_json_object(&j, NULL);
        pgk_json_text(&j, "name", d->changes[i].f.name);
        pgk_json_double(&j, "base_share", d->changes[i].base);
        pgk_json_double(&j, "test_share", d->changes[i].test);
        pgk_json_end_object(&j);
    }
    pgk_json_end_array(&j);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
}

static void put_markdown(const struct diff *d, struct pgk_text_out *out)
{
    const struct pgk_instr_overlap *o = &d->overlap;
    pgk_text_printf(out, "## Counters compared\n\n| | in common |\n|---|--:|\n"
                         "| counters | %.3f %% |\n", 100 * o->counters);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        if (o->values[k] >= 0)
            pgk_text_printf(out, "| %s | %.3f %% |\n",
                            pgk_value_kind_name((enum pgk_value_kind)k), 100 * o->values[k]);
    pgk_text_printf(out, "\n| | before | now |\n|---|--:|--:|\n| sum of counters | %.6g | %.6g |\n"
                         "| functions in this profile only | %zu | %zu |\n"
                         "| functions in both | %zu | %zu |\n",
                    o->base_total, o->test_total, o->only_base, o->only_test, o->matched,
                    o->matched);
    if (o->mismatched)
        pgk_text_printf(out, "| functions in both with another shape | %zu | %zu |\n",
                        o->mismatched, o->mismatched);
    if (d->shown)
        pgk_text_lit(out, "\n### Largest changes\n\n| change | share before | share now | "
                          "function |\n|--:|--:|--:|---|\n");
    for (size_t i = 0; i < d->shown; i++) {
        char name[512];
        const struct change *c = &d->changes[i];
        pgk_text_printf(out, "| %+.2f %% | %.2f %% | %.2f %% | ", 100 * (c->test - c->base),
                        100 * c->base, 100 * c->test);
        pgk_md_code(out, pgk_instr_shown_name(name, sizeof name, c->f.name));
        pgk_text_lit(out, " |\n");
    }
    if (d->shown < d->n)
        pgk_text_printf(out, "\n%zu more function%s changed.\n", d->n - d->shown,
                        pgk_plural(d->n - d->shown));
}

static void print_markdown(const struct diff *d, FILE *out)
{
    struct pgk_text_out text;
    pgk_text_to_file(&text, out);
    put_markdown(d, &text);
    pgk_text_flush(&text);
}

static int compare_and_print(const struct pgk_instr *base, const struct pgk_instr *test,
                             bool contextual, const struct pgk_instr_print_opts *opts,
                             void (*print)(const struct diff *d, FILE *out), FILE *out,
                             struct pgk_err *err)
{
    const size_t top = opts->top;
    struct diff d = {.opts = opts, .overlap.struct_size = sizeof d.overlap};
    PGK_TRY(pgk_instr_overlap(base, test, contextual, &d.overlap, err));
    PGK_TRY(find_changes(base, test, contextual, &d, err));
    d.shown = top && top < d.n ? top : d.n;
    print(&d, out);
    pgk_mem_free(d.changes);
    return 0;
}

int pgk_instr_print_diff(const struct pgk_instr *base, const struct pgk_instr *test,
                         bool contextual, bool json, const struct pgk_instr_print_opts *given,
                         FILE *out, struct pgk_err *err)
{
    struct pgk_instr_print_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    return compare_and_print(base, test, contextual, &opts, json ? print_json : print_text, out,
                             err);
}

int pgk_instr_print_diff_markdown(const struct pgk_instr *base, const struct pgk_instr *test,
                                  bool contextual, const struct pgk_instr_print_opts *given,
                                  FILE *out, struct pgk_err *err)
{
    struct pgk_instr_print_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    return compare_and_print(base, test, contextual, &opts, print_markdown, out, err);
}
