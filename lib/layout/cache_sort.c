/* Cache-directed sort of functions. docs/formats/function-order.md */
#include "cache_sort.h"

#include "gain_heap.h"

#include <math.h>
#include <stdlib.h>

/* As in LLVM's cache-directed sort: what a cache of so many lines of so many bytes keeps, how fast
 * a call loses by distance, and how the one is weighed against the other. Chains of more functions
 * are not joined any more: the time to compare them would grow with the square. */
static const double cache_entries = 16, cache_bytes = 2048, frequency_scale = 0.25;
static const double distance_power = 0.25, no_distance = 0.1;
enum { MOST_IN_CHAIN = 128 };
#define NONE UINT32_MAX

typedef PGK_VEC(uint32_t) numbers;

struct chain { /* gone once it is joined to another */
    uint32_t first, last, n; /* functions */
    uint64_t size;
    double count, entered;
    numbers edges;
    bool gone;
};

struct node {
    uint64_t at; /* offset in its chain */
    uint32_t chain, next;
};

struct edge { /* between two chains */
    uint32_t a, b;
    numbers calls; /* none: joined to another edge */
    double gain;
    bool b_first;     /* which order gains more */
    uint32_t version; /* of the gain */
};

struct sorter {
    const struct pgk_call_graph *graph;
    struct chain *chains;
    struct node *nodes;
    uint32_t *edge_to; /* by chain, while edges of two chains are joined */
    PGK_VEC(struct edge) edges;
    pgk_gain_heap heap;
    double total; /* of how often functions were entered */
};

/* ---- gains ---- */

static double near_value(uint64_t from, uint64_t to, uint64_t count)
{
    uint64_t distance = from < to ? to - from : from - to;
    return (double)count * pow(distance ? (double)distance : no_distance, -distance_power);
}

/* Chance that code that is entered so often a byte is not in the cache any more. */
static double miss_chance(const struct sorter *s, double entered, double size)
{
    double in_cache = entered / size * cache_bytes;
    return in_cache >= s->total ? 0 : pow(1 - in_cache / s->total, cache_entries);
}

static double misses(const struct sorter *s, double entered, double size)
{
    return entered * miss_chance(s, entered, size);
}

static double near_gain(const struct sorter *s, const struct edge *e, uint32_t second,
                        uint64_t offset)
{
    double sum = 0;
    for (size_t i = 0; i < e->calls.n; i++) {
        const struct pgk_graph_call *c = &s->graph->calls.v[e->calls.v[i]];
        const struct node *from = &s->nodes[c->from], *to = &s->nodes[c->to];
        sum += near_value(from->at + c->offset + (from->chain == second ? offset : 0),
                          to->at + (to->chain == second ? offset : 0), c->count);
    }
    return sum;
}

/* Of chains alike, those of which one is short are joined first. False when out of memory. */
static bool weigh(struct sorter *s, uint32_t number)
{
    struct edge *e = &s->edges.v[number];
    const struct chain *a = &s->chains[e->a], *b = &s->chains[e->b];
    double a_size = (double)a->size, b_size = (double)b->size;
    double fewer = misses(s, a->entered, a_size) + misses(s, b->entered, b_size) -
                   misses(s, a->entered + b->entered, a_size + b_size);
    double a_first = near_gain(s, e, e->b, a->size), b_first = near_gain(s, e, e->a, b->size);
    e->b_first = b_first > a_first;
    e->gain = (e->b_first ? b_first : a_first) + frequency_scale * fewer;
    e->gain /= a->size < b->size ? a_size : b_size;
    e->version++;
    return e->gain <= 0 || a->n + b->n > MOST_IN_CHAIN ||
           pgk_gain_put(&s->heap, (struct pgk_gain){e->gain, number, e->version});
}

/* ---- joining chains ---- */

static bool append(numbers *to, const numbers *more)
{
    if (!pgk_vec_reserve(to, more->n))
        return false;
    for (size_t i = 0; i < more->n; i++)
        to->v[to->n++] = more->v[i];
    return true;
}

static void join_functions(struct sorter *s, uint32_t x, uint32_t y)
{
    struct chain *first = &s->chains[x], *second = &s->chains[y];
    for (uint32_t i = second->first; i != NONE; i = s->nodes[i].next) {
        s->nodes[i].chain = x;
        s->nodes[i].at += first->size;
    }
    s->nodes[first->last].next = second->first;
    first->last = second->last;
    first->n += second->n;
    first->size += second->size;
    first->count += second->count;
    first->entered += second->entered;
    second->gone = true;
}

/* Of two edges to one chain one is left, and none to the chain itself. */
static bool join_edges(struct sorter *s, uint32_t x, uint32_t y)
{
    numbers *kept = &s->chains[x].edges, *joined = &s->chains[y].edges;
    size_t n = 0;
    if (!append(kept, joined))
        return false;
    pgk_vec_free(joined);
    for (size_t i = 0; i < kept->n; i++) {
        struct edge *e = &s->edges.v[kept->v[i]];
        e->a = e->a == y ? x : e->a;
        e->b = e->b == y ? x : e->b;
        uint32_t other = e->a == x ? e->b : e->a, same = s->edge_to[other];
        if (other == x || !e->calls.n)
            continue;
        if (same == NONE) {
            s->edge_to[other] = kept->v[i];
            kept->v[n++] = kept->v[i];
        } else {
            if (!append(&s->edges.v[same].calls, &e->calls))
                return false;
            pgk_vec_free(&e->calls);
            e->version++;
        }
    }
    kept->n = n;
    for (size_t i = 0; i < n; i++) {
        const struct edge *e = &s->edges.v[kept->v[i]];
        s->edge_to[e->a == x ? e->b : e->a] = NONE;
    }
    return true;
}

static bool join(struct sorter *s, const struct edge *e)
{
    uint32_t x = e->b_first ? e->b : e->a, y = e->b_first ? e->a : e->b;
    join_functions(s, x, y);
    if (!join_edges(s, x, y))
        return false;
    for (size_t i = 0; i < s->chains[x].edges.n; i++)
        if (!weigh(s, s->chains[x].edges.v[i]))
            return false;
    return true;
}

/* ---- all of it ---- */

static bool open_sorter(struct sorter *s, const struct pgk_call_graph *graph)
{
    size_t n = graph->functions.n;
    *s = (struct sorter){.graph = graph, .chains = pgk_mem_zalloc(n, sizeof *s->chains),
                         .nodes = pgk_mem_zalloc(n, sizeof *s->nodes),
                         .edge_to = pgk_mem_alloc(n, sizeof *s->edge_to)};
    if (!s->chains || !s->nodes || !s->edge_to)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct pgk_graph_function *f = &graph->functions.v[i];
        s->chains[i] = (struct chain){.first = i, .last = i, .n = 1, .size = f->size,
                                     .count = (double)f->count, .gone = !f->count};
        s->nodes[i] = (struct node){0, i, NONE};
        s->edge_to[i] = NONE;
    }
    for (size_t i = 0; i < graph->calls.n; i++) {
        const struct pgk_graph_call *c = &graph->calls.v[i];
        s->chains[c->to].entered += (double)c->count;
        s->total += (double)c->count;
    }
    return true;
}

static void close_sorter(struct sorter *s)
{
    for (size_t i = 0; s->chains && i < s->graph->functions.n; i++)
        pgk_vec_free(&s->chains[i].edges);
    for (size_t i = 0; i < s->edges.n; i++)
        pgk_vec_free(&s->edges.v[i].calls);
    pgk_vec_free(&s->edges);
    pgk_vec_free(&s->heap);
    pgk_mem_free(s->chains);
    pgk_mem_free(s->nodes);
    pgk_mem_free(s->edge_to);
}

/* The edge between the chains of two functions; NONE when out of memory. */
static uint32_t edge_between(struct sorter *s, uint32_t a, uint32_t b)
{
    const numbers *of_a = &s->chains[a].edges, *of_b = &s->chains[b].edges;
    const numbers *fewer = of_a->n < of_b->n ? of_a : of_b;
    for (size_t i = 0; i < fewer->n; i++) {
        const struct edge *e = &s->edges.v[fewer->v[i]];
        if ((e->a == a && e->b == b) || (e->a == b && e->b == a))
            return fewer->v[i];
    }
    uint32_t new = (uint32_t)s->edges.n;
    return pgk_vec_push(&s->edges, (struct edge){.a = a, .b = b}) &&
                   pgk_vec_push(&s->chains[a].edges, new) && pgk_vec_push(&s->chains[b].edges, new)
               ? new
               : NONE;
}

static bool add_edges(struct sorter *s)
{
    for (uint32_t i = 0; i < s->graph->calls.n; i++) {
        const struct pgk_graph_call *c = &s->graph->calls.v[i];
        if (c->from == c->to || s->chains[c->from].gone || s->chains[c->to].gone)
            continue;
        uint32_t edge = edge_between(s, c->from, c->to);
        if (edge == NONE || !pgk_vec_push(&s->edges.v[edge].calls, i))
            return false;
    }
    for (uint32_t i = 0; i < s->edges.n; i++)
        if (!weigh(s, i))
            return false;
    return true;
}

static bool join_all(struct sorter *s)
{
    while (s->heap.n) {
        struct pgk_gain best = pgk_gain_take(&s->heap);
        const struct edge *e = &s->edges.v[best.pair];
        if (e->version == best.version && !join(s, e))
            return false;
    }
    return true;
}

static int compare_chains(const void *a, const void *b, void *ctx)
{
    const struct chain *chains = ctx;
    const struct chain *x = &chains[*(const uint32_t *)a], *y = &chains[*(const uint32_t *)b];
    double of_x = x->count / (double)x->size, of_y = y->count / (double)y->size;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static bool list_all(const struct sorter *s, pgk_layout_list *order)
{
    numbers left = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->graph->functions.n; i++)
        ok = s->chains[i].gone || pgk_vec_push(&left, i);
    if (ok && left.n)
        qsort_r(left.v, left.n, sizeof *left.v, compare_chains, s->chains);
    for (size_t i = 0; ok && i < left.n; i++)
        for (uint32_t f = s->chains[left.v[i]].first; ok && f != NONE; f = s->nodes[f].next)
            ok = pgk_vec_push(order, f);
    pgk_vec_free(&left);
    return ok;
}

bool pgk_layout_order(pgk_layout_list *order, const struct pgk_call_graph *graph)
{
    struct sorter s;
    if (!graph->functions.n)
        return true;
    bool ok = open_sorter(&s, graph) && add_edges(&s) && join_all(&s) && list_all(&s, order);
    close_sorter(&s);
    return ok;
}

bool pgk_layout_score(double *score, const pgk_layout_list *order,
                              const struct pgk_call_graph *graph)
{
    uint64_t *at = pgk_mem_alloc(graph->functions.n + 1, sizeof *at), next = 0;
    if (!at)
        return false;
    for (size_t i = 0; i < graph->functions.n; i++)
        at[i] = UINT64_MAX;
    for (size_t i = 0; i < order->n; next += graph->functions.v[order->v[i++]].size)
        at[order->v[i]] = next;
    *score = 0;
    for (size_t i = 0; i < graph->calls.n; i++) {
        const struct pgk_graph_call *c = &graph->calls.v[i];
        if (c->from != c->to && at[c->from] != UINT64_MAX && at[c->to] != UINT64_MAX)
            *score += near_value(at[c->from] + c->offset, at[c->to], c->count);
    }
    pgk_mem_free(at);
    return true;
}
