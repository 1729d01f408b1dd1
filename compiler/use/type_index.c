/* An index of the types in a sample profile: one row for each type at each place of each function
 * or inlined function. Rows of one place are in the order of their callers, innermost first, so
 * that a chain of calls has its rows in one range, and the contexts that end within it in one range
 * for each length. */
#include "type_index.h"

#include "plan_memory.h"

#include <string.h>

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_three(uint64_t a, uint64_t b, uint64_t line_a, uint64_t line_b,
                         uint64_t discriminator_a, uint64_t discriminator_b)
{
    int order = by_number(a, b);
    order = order ? order : by_number(line_a, line_b);
    return order ? order : by_number(discriminator_a, discriminator_b);
}

/* A context that ends is before those that go on. */
static int compare_contexts(const struct pgc_type_index *rows, uint32_t a, uint32_t b)
{
    while (a != b) {
        const struct pgc_type_context *x = &rows->contexts[a], *y = &rows->contexts[b];
        if (!x->caller || !y->caller)
            return (x->caller != 0) - (y->caller != 0);
        int order = compare_three(rows->contexts[x->caller].function,
                                  rows->contexts[y->caller].function, x->line, y->line,
                                  x->discriminator, y->discriminator);
        if (order)
            return order;
        a = x->caller;
        b = y->caller;
    }
    return 0;
}

static int by_place(const void *a, const void *b, void *arg)
{
    const struct pgc_type_row *x = a, *y = b;
    int order = compare_three(x->function, y->function, x->line, y->line, x->discriminator,
                              y->discriminator);
    order = order ? order : compare_contexts(arg, x->context, y->context);
    order = order ? order : by_number(x->context, y->context);
    return order ? order : by_number(x->of.type, y->of.type);
}

void pgc_type_index_context(struct pgc_type_index *rows, uint32_t number,
                            struct pgc_type_context context)
{
    while (rows->n_contexts <= number)
        PGC_PUSH(rows->contexts, rows->n_contexts, rows->context_capacity,
                 (struct pgc_type_context){0});
    rows->contexts[number] = context;
}

void pgc_type_index_add(struct pgc_type_index *rows, struct pgc_type_row row)
{
    PGC_PUSH(rows->all, rows->n, rows->capacity, row);
}

void pgc_type_index_sort(struct pgc_type_index *rows)
{
    if (rows->n)
        qsort_r(rows->all, rows->n, sizeof *rows->all, by_place, rows);
}

void pgc_type_index_close(struct pgc_type_index *rows)
{
    free(rows->all);
    free(rows->contexts);
}

/* ---- lookups ---- */

static uint32_t line_of(const struct pgc_type_index *rows, const struct pgc_place *place)
{
    return rows->probes ? place->probe : place->line_offset;
}

static uint32_t discriminator_of(const struct pgc_type_index *rows, const struct pgc_place *place)
{
    return rows->probes ? 0 : place->discriminator;
}

/* The rows at the first place of a chain whose contexts begin with its calls; `whole`: and end with
 * them. With n 0: all rows of the function. */
struct wanted {
    const struct pgc_place *chain;
    size_t n;
    bool whole;
};

static int compare_with(const struct pgc_type_index *rows, const struct pgc_type_row *row,
                        const struct wanted *w)
{
    if (!w->n)
        return by_number(row->function, w->chain->function);
    int order = compare_three(row->function, w->chain->function, row->line,
                              line_of(rows, w->chain), row->discriminator,
                              discriminator_of(rows, w->chain));
    const struct pgc_type_context *context = &rows->contexts[row->context];
    for (size_t i = 1; i < w->n && !order; i++) {
        if (!context->caller)
            return -1;
        const struct pgc_type_context *caller = &rows->contexts[context->caller];
        order = compare_three(caller->function, w->chain[i].function, context->line,
                              line_of(rows, &w->chain[i]), context->discriminator,
                              discriminator_of(rows, &w->chain[i]));
        context = caller;
    }
    return order ? order : w->whole && context->caller;
}

/* The first row that is not before what is wanted; `past`: that is after it. */
static struct pgc_type_row *bound(const struct pgc_type_index *rows, const struct wanted *w,
                                  bool past)
{
    size_t low = 0, high = rows->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_with(rows, &rows->all[middle], w) < past)
            low = middle + 1;
        else
            high = middle;
    }
    return rows->all + low;
}

static struct pgc_type_range range_of(const struct pgc_type_index *rows, const struct wanted *w)
{
    return (struct pgc_type_range){bound(rows, w, false), bound(rows, w, true)};
}

struct pgc_type_range pgc_type_index_of(const struct pgc_type_index *rows, uint64_t function)
{
    const struct pgc_place place = {.function = function};
    return range_of(rows, &(struct wanted){&place, 0, false});
}

static void find(struct pgc_type_index *rows, const struct pgc_place *chain, size_t n, bool whole)
{
    const struct pgc_type_range range = range_of(rows, &(struct wanted){chain, n, whole});
    if (range.first < range.end)
        rows->found[rows->n_found++] = range;
}

/* Rows of a place that is looked at are of another caller until a lookup finds them. */
static void mark_place(const struct pgc_type_index *rows, const struct pgc_place *chain)
{
    const struct pgc_type_range range = range_of(rows, &(struct wanted){chain, 1, false});
    if (range.first == range.end || range.first->use <= PGK_USE_OTHER_CALLER)
        return;
    for (struct pgc_type_row *row = range.first; row < range.end; row++)
        row->use = PGK_USE_OTHER_CALLER;
}

/* ---- the types of rows ---- */

static int by_type(const void *a, const void *b)
{
    return by_number(((const struct pgc_type_count *)a)->type,
                     ((const struct pgc_type_count *)b)->type);
}

/* The most frequent first. */
static int by_count(const void *a, const void *b)
{
    const struct pgc_type_count *x = a, *y = b;
    int order = by_number(y->count, x->count);
    return order ? order : by_number(x->type, y->type);
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* One of each type, the most frequent first; returns how many. */
static size_t sum_up(struct pgc_type_count *all, size_t n)
{
    size_t kept = 0;
    qsort(all, n, sizeof *all, by_type);
    for (size_t i = 1; i < n; i++)
        if (all[i].type == all[kept].type)
            all[kept].count = add_up(all[kept].count, all[i].count);
        else
            all[++kept] = all[i];
    qsort(all, kept + 1, sizeof *all, by_count);
    return kept + 1;
}

size_t pgc_type_index_at(struct pgc_type_index *rows, const struct pgc_place *chain, size_t n,
                        struct pgc_type_count types[PGC_TYPES])
{
    struct pgc_type_count *all = NULL;
    size_t found = 0, capacity = 0;
    rows->n_found = 0;
    if (!n || (rows->probes && !chain->probe))
        return 0;
    mark_place(rows, chain);
    find(rows, chain, n, true);
    if (!rows->n_found) {
        for (size_t length = 1; length < n; length++)
            find(rows, chain, length, true);
        find(rows, chain, n, false);
    }
    for (size_t i = 0; i < rows->n_found; i++)
        for (const struct pgc_type_row *row = rows->found[i].first; row < rows->found[i].end; row++)
            PGC_PUSH(all, found, capacity, row->of);
    if (!found)
        return 0;
    found = sum_up(all, found);
    found = found < PGC_TYPES ? found : PGC_TYPES;
    memcpy(types, all, found * sizeof *all);
    free(all);
    return found;
}
