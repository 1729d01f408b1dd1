/* What an order of functions is worth: on how many pages the code is that runs most. */
#include "hot_pages.h"

#include <stdlib.h>

enum { PAGE = 4096, HOT_PERCENT = 90, ALIGNED = 16 };

static int compare_counts(const void *a, const void *b, void *ctx)
{
    const struct pgk_call_graph *g = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t of_x = g->functions.v[x].count, of_y = g->functions.v[y].count;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Marks the functions that have most of what ran. */
static bool mark_hot(bool *hot, const struct pgk_call_graph *graph, const pgk_layout_list *order)
{
    uint32_t *by_count = pgk_mem_alloc(order->n + 1, sizeof *by_count);
    double all = 0, sum = 0;
    if (!by_count)
        return false;
    for (size_t i = 0; i < order->n; i++) {
        by_count[i] = order->v[i];
        all += (double)graph->functions.v[order->v[i]].count;
    }
    qsort_r(by_count, order->n, sizeof *by_count, compare_counts, (void *)graph);
    for (size_t i = 0; i < order->n && sum < all * HOT_PERCENT / 100; i++) {
        hot[by_count[i]] = true;
        sum += (double)graph->functions.v[by_count[i]].count;
    }
    pgk_mem_free(by_count);
    return true;
}

/* Pages of the code from `low` on, which comes after all before, that were not counted yet. */
static uint64_t more_pages(uint64_t low, uint64_t high, uint64_t *next)
{
    uint64_t first = low / PAGE, end = (high - 1) / PAGE + 1;
    first = first < *next ? *next : first;
    if (end <= first)
        return 0;
    *next = end;
    return end - first;
}

/* Of the binary as it is. */
static uint64_t pages_now(const struct pgk_layout_functions *functions, const bool *hot)
{
    uint64_t n = 0, next = 0;
    for (size_t i = 0; i < functions->list.n; i++)
        if (hot[i])
            n += more_pages(functions->list.v[i].low, functions->list.v[i].high, &next);
    return n;
}

static uint64_t pages_ordered(const struct pgk_call_graph *graph, const pgk_layout_list *order,
                              const bool *hot)
{
    uint64_t n = 0, next = 0, at = 0;
    for (size_t i = 0; i < order->n; i++) {
        uint64_t size = graph->functions.v[order->v[i]].size;
        if (hot[order->v[i]])
            n += more_pages(at, at + size, &next);
        at += (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    }
    return n;
}

bool pgk_hot_pages(uint64_t *now, uint64_t *ordered, const struct pgk_layout_functions *functions,
                   const struct pgk_call_graph *graph, const pgk_layout_list *order)
{
    bool *hot = pgk_mem_zalloc(functions->list.n, sizeof *hot);
    bool ok = hot && mark_hot(hot, graph, order);
    if (ok) {
        *now += pages_now(functions, hot);
        *ordered += pages_ordered(graph, order, hot);
    }
    pgk_mem_free(hot);
    return ok;
}
