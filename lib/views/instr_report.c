/* An instrumentation profile on a terminal: totals, then the functions that ran most, or all of
 * one function. */
#include "instr_summary.h"
#include "instr_view.h"

#include "mem.h"
#include "opts.h"
#include "pgokit/human.h"
#include "value_data.h"

#include <inttypes.h>
#include <string.h>

#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static void print_title(const struct pgk_instr_print_opts *o, FILE *out)
{
    char text[160], safe[512];
    if (!o->title)
        return;
    fprintf(out, "%s%s%s", o->colour ? "\033[1m" : "", pgk_human_text(safe, sizeof safe, o->title),
            o->colour ? "\033[0m" : "");
    if (o->info)
        fprintf(out, ": %s", pgk_file_info_text(o->info, text, sizeof text));
    fputs("\n\n", out);
}

static void print_summary(const struct pgk_instr_summary *s, const char *what, FILE *out)
{
    fprintf(out, "  %s%s call%s of one function, %s at any counter\n", what,
            COUNT(s->max_entry_count), pgk_plural(s->max_entry_count), COUNT(s->max_count));
}

static void print_totals(const struct pgk_instr *p, FILE *out)
{
    struct pgk_instr_totals t;
    pgk_instr_totals(p, &t);
    fprintf(out, "  instrumentation   %s\n", pgk_instr_origin_text(p));
    fprintf(out, "  functions         %s, of which %s ran", COUNT(t.functions), COUNT(t.ran));
    if (t.contextual)
        fprintf(out, "; %s in context", COUNT(t.contextual));
    if (t.estimated)
        fprintf(out, "; %s only known to be hot or warm", COUNT(t.estimated));
    fprintf(out, "\n  counters          %s, together %.6g\n", COUNT(t.counters), t.count);
    print_summary(&t.plain, "largest           ", out);
    if (t.contextual)
        print_summary(&t.in_context, "in context        at most ", out);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        if (t.sites[k])
            fprintf(out, "  value sites       %s of %s\n", COUNT(t.sites[k]),
                    pgk_value_kind_name((enum pgk_value_kind)k));
    if (t.bitmaps)
        fprintf(out, "  bitmaps           of %s function%s\n", COUNT(t.bitmaps),
                pgk_plural(t.bitmaps));
    if (t.uniformities)
        fprintf(out, "  uniformity        of %s function%s\n", COUNT(t.uniformities),
                pgk_plural(t.uniformities));
    if (pgk_instr_traces(p))
        fprintf(out, "  temporal traces   %s\n", COUNT(pgk_instr_traces(p)));
    if (pgk_instr_vtables(p))
        fprintf(out, "  virtual tables    %s name%s\n", COUNT(pgk_instr_vtables(p)),
                pgk_plural(pgk_instr_vtables(p)));
    for (size_t i = 0; i < pgk_instr_binary_ids(p); i++) {
        char hex[2 * 32 + 1];
        size_t size;
        const uint8_t *id = pgk_instr_binary_id(p, i, &size);
        fprintf(out, "%s%s\n", i ? "                    " : "  binary ids        ",
                pgk_human_hex(hex, sizeof hex, id, size));
    }
}

static size_t count_in_cutoffs(const struct pgk_instr *p, const struct pgk_instr_print_opts *o)
{
    size_t n = 0;
    for (size_t i = 0; i < pgk_instr_functions(p); i++) {
        struct pgk_instr_function f = {.struct_size = sizeof f};
        pgk_instr_function(p, i, &f);
        n += pgk_function_in_cutoffs(&f, o);
    }
    return n;
}

static void print_cutoff(const struct pgk_instr *p, const struct pgk_instr_print_opts *o,
                         FILE *out)
{
    uint64_t cutoff = o->below_cutoff ? o->below_cutoff : o->value_cutoff;
    struct pgk_instr_print_opts opts = {.below_cutoff = cutoff, .contextual = o->contextual};
    size_t n = count_in_cutoffs(p, &opts);
    fprintf(out, "  below cutoff      %s function%s no counter of %s or more\n", COUNT(n),
            n == 1 ? " has" : "s have", COUNT(cutoff));
}

enum { NAME_SIZE = 4096 };

static void print_rows(const struct pgk_instr *p, const struct pgk_instr_print_opts *o,
                       const size_t *order, size_t n, FILE *out)
{
    enum { NAME_AT = 45, IN_CONTEXT = 13 };
    struct pgk_instr_totals t;
    pgk_instr_totals(p, &t);
    fprintf(out, "\n%s  %7s  %15s  %15s  %s%s\n", o->colour ? "\033[1m" : "", "share", "calls",
            "largest counter", "function", o->colour ? "\033[0m" : "");
    for (size_t i = 0; i < n; i++) {
        struct pgk_instr_function f = {.struct_size = sizeof f};
        char name[NAME_SIZE];
        pgk_instr_function(p, order[i], &f);
        const char *pseudo = pgk_function_pseudo(&f);
        fprintf(
            out, "  %5.1f %%  %15s  %15s  %s%s\n",
            t.count ? 100 * pgk_function_total(&f) / t.count : 0,
            pseudo ? pseudo : COUNT(f.counts[0]), pseudo ? "unknown" : COUNT(pgk_function_max(&f)),
            pgk_instr_fitting_name(name, sizeof name, o, f.name,
                                   NAME_AT + (f.contextual ? IN_CONTEXT : 0)),
            f.contextual ? " (in context)" : "");
    }
}

static void print_site(const struct pgk_instr *p, const struct pgk_instr_print_opts *o,
                       size_t function, enum pgk_value_kind kind, size_t site, FILE *out)
{
    enum { SHOWN = 8, VALUE_AT = 23 };
    struct pgk_instr_value v[SHOWN];
    char name[NAME_SIZE];
    size_t n = pgk_instr_site(p, function, kind, site, v, SHOWN);
    fprintf(out, "    site %zu of %s:%s\n", site + 1, pgk_value_kind_name(kind),
            n ? "" : " no values");
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const char *known = kind == PGK_VALUE_SIZE ? NULL : pgk_instr_name(p, kind, v[i].value);
        if (kind == PGK_VALUE_SIZE)
            snprintf(name, sizeof name, "%" PRIu64 " B%s", v[i].value,
                     v[i].value > 8 && v[i].value & (v[i].value - 1) ? " or more" : "");
        else
            pgk_instr_fitting_name(name, sizeof name, o, known ? known : "(not in the profile)",
                                   VALUE_AT);
        fprintf(out, "      %15s  %s\n", COUNT(v[i].count), name);
    }
    if (n > SHOWN)
        fprintf(out, "      and %zu more values\n", n - SHOWN);
}

/* Which of a function's counters of code for GPUs are not uniform. */
static void print_uniformity(const struct pgk_instr *p, size_t i, size_t n_counts, FILE *out)
{
    size_t n = pgk_instr_uniformity(p, i, NULL, 0), others = 0;
    uint8_t *bits = n ? pgk_mem_alloc(n, 1) : NULL;
    if (!bits)
        return;
    pgk_instr_uniformity(p, i, bits, n);
    fputs("    uniform: all counters", out);
    for (size_t c = 0; c < n_counts; c++)
        if (!(bits[c / 8] >> c % 8 & 1))
            fprintf(out, "%s %zu", others++ ? "" : " but", c + 1);
    fputc('\n', out);
    pgk_mem_free(bits);
}

static void print_function(const struct pgk_instr *p, const struct pgk_instr_print_opts *o,
                           size_t i, FILE *out)
{
    struct pgk_instr_function f = {.struct_size = sizeof f};
    char name[NAME_SIZE];
    pgk_instr_function(p, i, &f);
    fprintf(out, "  %s\n    hash 0x%016" PRIx64 "%s\n    counters:",
            pgk_instr_fitting_name(name, sizeof name, o, f.name, 2), f.hash,
            f.contextual ? ", in context" : "");
    if (pgk_function_pseudo(&f))
        fprintf(out, " only known to be %s", pgk_function_pseudo(&f));
    for (size_t c = 0; c < f.n_counts && !pgk_function_pseudo(&f); c++)
        fprintf(out, "%s%s", c % 8 ? "  " : "\n      ", COUNT(f.counts[c]));
    fputc('\n', out);
    if (f.n_bitmap)
        fputs("    bitmap:", out);
    for (size_t b = 0; b < f.n_bitmap; b++)
        fprintf(out, " %02x", f.bitmap[b]);
    if (f.n_bitmap)
        fputc('\n', out);
    print_uniformity(p, i, f.n_counts, out);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        for (size_t s = 0; s < pgk_instr_sites(p, i, (enum pgk_value_kind)k); s++)
            print_site(p, o, i, (enum pgk_value_kind)k, s, out);
}

int pgk_instr_print_table(const struct pgk_instr *p, const struct pgk_instr_print_opts *given,
                          FILE *out, struct pgk_err *err)
{
    struct pgk_instr_print_opts taken, *o = &taken;
    PGK_TRY(PGK_OPTS_TAKE(o, given, err));
    o->contextual = o->contextual && pgk_instr_context_bit(p);
    size_t *order, n;
    PGK_TRY(pgk_instr_ranking(p, o, &order, &n, err));
    if (o->function && !n) {
        pgk_mem_free(order);
        return pgk_fail(err, PGK_E_EMPTY, .file = o->title, .field = "function",
                        .found = "no function that has or matches this name",
                        .expected = o->function,
                        .hint = "names are linkage names; show without --function lists some");
    }
    print_title(o, out);
    if (o->function) {
        for (size_t i = 0; i < n; i++)
            print_function(p, o, order[i], out);
    } else {
        print_totals(p, out);
        if (o->value_cutoff || o->below_cutoff)
            print_cutoff(p, o, out);
        if (n)
            print_rows(p, o, order, n, out);
        size_t all = count_in_cutoffs(p, o);
        if (n < all)
            fprintf(out, "  and %s more (--top 0 shows all)\n", COUNT(all - n));
    }
    pgk_mem_free(order);
    return 0;
}
