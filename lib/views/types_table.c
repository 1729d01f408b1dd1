/* A heap profile by type: what the objects of each type cost. */
#include "heap_stack_text.h"
#include "heap_view.h"
#include "opts.h"
#include "pgokit/human.h"

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* A cell for what may not be known. */
static void print_cell(FILE *out, int width, double value, const char *format)
{
    char text[PGK_HUMAN_SIZE] = "-";
    if (value >= 0 && format)
        snprintf(text, sizeof text, format, value);
    else if (value >= 0)
        pgk_human_ms(text, value);
    fprintf(out, "%*s", pgk_field_bytes(width, text), text);
}

enum { NAME_AT = 62 };

static void print_row(const struct pgk_type_sum *t, uint64_t all_bytes, unsigned width, FILE *out)
{
    const uint64_t *v = t->sum.v;
    fprintf(out, "%12s %5.1f %10s", BYTES(v[PGK_MIB_TotalSize]),
            share(v[PGK_MIB_TotalSize], all_bytes), COUNT(v[PGK_MIB_AllocCount]));
    print_cell(out, 11, pgk_heap_sort_value(&t->sum, PGK_HEAP_SORT_DENSITY), "%.2f");
    print_cell(out, 10, pgk_heap_sort_value(&t->sum, PGK_HEAP_SORT_LIFETIME), NULL);
    fprintf(out, " %8s  ", COUNT(t->contexts));
    if (!t->id)
        fputs("(not known)", out);
    else if (*t->name)
        pgk_print_type_name(out, t->name, width, NAME_AT);
    else
        fputs(pgk_type_number((char[PGK_TYPE_NUMBER_SIZE]){0}, t->id), out);
    fputc('\n', out);
}

int pgk_heap_print_types(const struct pgk_heap *heap, const struct pgk_heap_print_opts *given,
                         FILE *out, struct pgk_err *err)
{
    struct pgk_heap_print_opts taken, *opts = &taken;
    struct pgk_heap_totals totals;
    struct pgk_type_sums sums;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    PGK_TRY(pgk_heap_sum_types(heap, opts->sort, &sums, err));
    pgk_heap_totals(heap, opts->info, &totals);
    uint64_t typed = 0, all = totals.v[PGK_MIB_TotalSize];
    size_t n_types = 0;
    for (size_t i = 0; i < sums.all.n; i++) {
        typed += sums.all.v[i].id ? sums.all.v[i].sum.v[PGK_MIB_TotalSize] : 0;
        n_types += sums.all.v[i].id != 0;
    }
    const struct pgk_text_style style = {.out = out, .colour = opts->colour};
    if (opts->title)
        fprintf(out, "%s%s%s\n\n", pgk_style_on(&style, PGK_STYLE_BOLD), opts->title,
                pgk_style_off(&style));
    fprintf(out, "  %s type%s; the type of %s of %s (%.1f %%) is known\n\n", COUNT(n_types),
            pgk_plural(n_types), BYTES(typed), BYTES(all), share(typed, all));
    if (n_types)
        fprintf(out, "%s%12s %5s %10s %10s %9s %8s  type%s\n", pgk_style_on(&style, PGK_STYLE_BOLD),
                "allocated", "%", "objects", "accesses/B", "life", "contexts",
                pgk_style_off(&style));
    for (size_t i = 0; i < sums.all.n && n_types; i++)
        if (!opts->top || i < opts->top || !sums.all.v[i].id)
            print_row(&sums.all.v[i], all, opts->width, out);
    if (!n_types)
        fputs("  Types are told by programs that pgokit's plugin compiled with -g, and by\n"
              "  functions of C++'s library; give the binary with -b.\n",
              out);
    pgk_type_sums_free(&sums);
    return 0;
}
