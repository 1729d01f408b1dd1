/* A heap profile by type: what the objects of each type cost. */
#include "hash.h"
#include "heap_stack_text.h"
#include "heap_view.h"
#include "index.h"
#include "opts.h"
#include "pgokit/human.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

struct type_sum {
    uint64_t id;      /* 0: of contexts whose type is not known */
    const char *name; /* belongs to the profile; "" unknown */
    size_t contexts;
    struct pgk_mib sum; /* of them; without histogram */
};
typedef PGK_VEC(struct type_sum) type_sums;

static int by_key(const void *a, const void *b, void *sort)
{
    const struct type_sum *x = a, *y = b;
    enum pgk_heap_sort key = *(enum pgk_heap_sort *)sort;
    double of_x = pgk_heap_sort_value(&x->sum, key), of_y = pgk_heap_sort_value(&y->sum, key);
    if (!x->id != !y->id)
        return x->id ? -1 : 1;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : x->id < y->id ? -1 : x->id > y->id;
}

static bool add_context(const struct pgk_heap *heap, size_t context, type_sums *sums,
                        struct pgk_index *index)
{
    struct pgk_mib m = *pgk_heap_mib(heap, context, PGK_MIB_ROOM);
    uint64_t id = m.v[PGK_MIB_DataTypeId], hash = pgk_hash_u64(id);
    m.hist = NULL;
    m.hist_count = 0;
    PGK_INDEX_FOR (index, hash, i)
        if (sums->v[i].id == id) {
            sums->v[i].contexts++;
            return pgk_mib_add(&sums->v[i].sum, &m, NULL);
        }
    return pgk_vec_push(sums, (struct type_sum){id, pgk_heap_type_name(heap, id), 1, m}) &&
           pgk_index_add(index, hash, (uint32_t)sums->n - 1);
}

/* A sum for each type, highest value of the key first; what has no type comes last. */
static int sum_types(const struct pgk_heap *heap, enum pgk_heap_sort sort, type_sums *sums,
                     struct pgk_err *err)
{
    struct pgk_index index = {0};
    bool ok = true;
    *sums = (type_sums){0};
    for (size_t c = 0; c < pgk_heap_contexts(heap) && ok; c++)
        ok = add_context(heap, c, sums, &index);
    pgk_index_free(&index);
    if (!ok) {
        pgk_vec_free(sums);
        return pgk_fail_nomem(err);
    }
    if (sums->n)
        qsort_r(sums->v, sums->n, sizeof *sums->v, by_key, &sort);
    return 0;
}

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
    fprintf(out, "%*s", width, text);
}

static void print_row(const struct type_sum *t, uint64_t all_bytes, FILE *out)
{
    const uint64_t *v = t->sum.v;
    fprintf(out, "%12s %5.1f %10s", BYTES(v[PGK_MIB_TotalSize]),
            share(v[PGK_MIB_TotalSize], all_bytes), COUNT(v[PGK_MIB_AllocCount]));
    print_cell(out, 11, pgk_heap_sort_value(&t->sum, PGK_HEAP_SORT_DENSITY), "%.2f");
    print_cell(out, 10, pgk_heap_sort_value(&t->sum, PGK_HEAP_SORT_LIFETIME), NULL);
    fprintf(out, " %8s  ", COUNT(t->contexts));
    if (!t->id)
        fputs("(not known)\n", out);
    else if (*t->name)
        fprintf(out, "%s\n", t->name);
    else
        fprintf(out, "type 0x%016llx\n", (unsigned long long)t->id);
}

int pgk_heap_print_types(const struct pgk_heap *heap, const struct pgk_heap_print_opts *given,
                         FILE *out, struct pgk_err *err)
{
    struct pgk_heap_print_opts taken, *opts = &taken;
    struct pgk_heap_totals totals;
    type_sums sums;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    PGK_TRY(sum_types(heap, opts->sort, &sums, err));
    pgk_heap_totals(heap, opts->info, &totals);
    uint64_t typed = 0, all = totals.v[PGK_MIB_TotalSize];
    size_t n_types = 0;
    for (size_t i = 0; i < sums.n; i++) {
        typed += sums.v[i].id ? sums.v[i].sum.v[PGK_MIB_TotalSize] : 0;
        n_types += sums.v[i].id != 0;
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
    for (size_t i = 0; i < sums.n && n_types; i++)
        if (!opts->top || i < opts->top || !sums.v[i].id)
            print_row(&sums.v[i], all, out);
    if (!n_types)
        fputs("  Types are told by programs that pgokit's plugin compiled with -g, and by\n"
              "  functions of C++'s library; give the binary with -b.\n",
              out);
    pgk_vec_free(&sums);
    return 0;
}
