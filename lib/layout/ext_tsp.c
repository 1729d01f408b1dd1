/* An order of the blocks of a function by ext-TSP. docs/formats/propeller.md section 4 */
#include "ext_tsp.h"

#include "gain_heap.h"

#include <stdlib.h>

static const double only_weight = 1.05, jump_weight = 0.1;
enum { FORWARD_BYTES = 1024, BACK_BYTES = 640 };

/* Longer chains are not joined any more, and of longer ones not every place is tried for another
 * chain: the time for either would grow with the square. */
enum { MOST_IN_CHAIN = 512, TRY_ALL = 96, TRY_NONE = 128 };
#define NONE UINT32_MAX

typedef PGK_VEC(uint32_t) numbers;

struct node {
    uint64_t at; /* offset in its chain */
    uint32_t chain;
    uint32_t place;   /* number in the chain */
    uint32_t jumps;   /* first of its jumps */
    bool is_only_way; /* to the next node of its chain, which has no other one */
};

struct chain {
    numbers nodes;
    uint64_t size;
    double count;
    numbers pairs;
    bool gone;
};

/* How two chains become one: `whole` is put after, before or into the other one, or after its
 * halves in exchanged order. */
enum join { AFTER, BEFORE, BETWEEN, BEFORE_EXCHANGED, AFTER_EXCHANGED };

struct way {
    double gain;
    uint32_t split_at; /* node of the chain that is split */
    enum join join;
    bool splits_b;
};

struct pair { /* of chains with jumps between them */
    uint32_t a, b;
    numbers jumps; /* none: joined to another pair */
    struct way best;
    uint32_t version;
    bool is_stale; /* chains have changed since: the gain is a guess */
};

struct moved {        /* a jump, as one way to join moves its ends */
    int64_t from, to; /* end of the block that jumps, and the target: offsets in their chains */
    double count, fallen;
    uint32_t from_place, to_place; /* in the chain that is split; NONE: in the whole one */
};

struct sorter {
    const struct pgk_tsp_graph *graph;
    struct node *nodes;
    struct chain *chains;
    uint32_t *pair_to; /* by chain, while pairs of two chains are joined */
    PGK_VEC(struct pair) pairs;
    pgk_gain_heap heap;
    PGK_VEC(struct moved) between, within; /* scratch */
    PGK_VEC(struct moved) across;          /* scratch: of `within`, from half to half */
    numbers places, list;                  /* scratch */
};

/* ---- what a jump is worth ---- */

static double value(int64_t from, int64_t to, double count, double fallen)
{
    int64_t distance = to - from;
    if (!distance)
        return fallen;
    if (distance > 0)
        return distance < FORWARD_BYTES
                   ? count * jump_weight * (1 - (double)distance / FORWARD_BYTES)
                   : 0;
    return -distance < BACK_BYTES ? count * jump_weight * (1 + (double)distance / BACK_BYTES) : 0;
}

/* Jumps ascend by their sources. */
static bool is_only_jump(const struct pgk_tsp_graph *g, size_t i)
{
    return (!i || g->jumps[i - 1].from != g->jumps[i].from) &&
           (i + 1 == g->n_jumps || g->jumps[i + 1].from != g->jumps[i].from);
}

static double fallen_value(const struct pgk_tsp_graph *g, size_t i)
{
    return (double)g->jumps[i].count * (is_only_jump(g, i) ? only_weight : 1);
}

double pgk_ext_tsp_score_at(const uint64_t *at, const struct pgk_tsp_graph *g)
{
    double sum = 0;
    for (size_t i = 0; i < g->n_jumps; i++) {
        const struct pgk_tsp_jump *j = &g->jumps[i];
        if (j->from != j->to && at[j->from] != UINT64_MAX && at[j->to] != UINT64_MAX)
            sum += value((int64_t)(at[j->from] + g->blocks[j->from].size), (int64_t)at[j->to],
                         (double)j->count, fallen_value(g, i));
    }
    return sum;
}

bool pgk_ext_tsp_score(double *score, const uint32_t *order, size_t n,
                       const struct pgk_tsp_graph *g)
{
    uint64_t *at = pgk_mem_alloc(g->n + 1, sizeof *at), next = 0;
    if (!at)
        return false;
    for (size_t i = 0; i < g->n; i++)
        at[i] = UINT64_MAX;
    for (size_t i = 0; i < n; next += g->blocks[order[i++]].size)
        at[order[i]] = next;
    *score = pgk_ext_tsp_score_at(at, g);
    pgk_mem_free(at);
    return true;
}

/* ---- what joining two chains gains ---- */

static struct moved moved_jump(const struct sorter *s, uint32_t jump, uint32_t split)
{
    const struct pgk_tsp_jump *j = &s->graph->jumps[jump];
    const struct node *from = &s->nodes[j->from], *to = &s->nodes[j->to];
    return (struct moved){
        .from = (int64_t)(from->at + s->graph->blocks[j->from].size),
        .to = (int64_t)to->at,
        .count = (double)j->count,
        .fallen = fallen_value(s->graph, jump),
        .from_place = from->chain == split ? from->place : NONE,
        .to_place = to->chain == split ? to->place : NONE,
    };
}

static bool list_between(struct sorter *s, const struct pair *p, uint32_t split)
{
    s->between.n = 0;
    if (!pgk_vec_reserve(&s->between, p->jumps.n))
        return false;
    for (size_t i = 0; i < p->jumps.n; i++)
        s->between.v[s->between.n++] = moved_jump(s, p->jumps.v[i], split);
    return true;
}

static bool list_within(struct sorter *s, uint32_t split)
{
    const struct chain *c = &s->chains[split];
    s->within.n = 0;
    for (size_t i = 0; i < c->nodes.n; i++) {
        uint32_t n = c->nodes.v[i];
        for (uint32_t j = s->nodes[n].jumps; j < s->nodes[n + 1].jumps; j++) {
            uint32_t to = s->graph->jumps[j].to;
            if (to != n && s->nodes[to].chain == split &&
                !pgk_vec_push(&s->within, moved_jump(s, j, split)))
                return false;
        }
    }
    s->across.n = 0;
    return pgk_vec_reserve(&s->across, s->within.n);
}

/* There is memory for all of them. */
static void list_across(struct sorter *s, uint32_t place)
{
    s->across.n = 0;
    for (size_t i = 0; i < s->within.n; i++) {
        const struct moved *j = &s->within.v[i];
        if ((j->from_place < place) != (j->to_place < place))
            s->across.v[s->across.n++] = *j;
    }
}

/* By how much each part moves. */
struct shifts {
    int64_t first, second; /* halves of the chain that is split */
    int64_t whole;
    uint32_t split_at; /* 0: it is not */
};

static int64_t shift_of(const struct shifts *m, uint32_t place)
{
    return place == NONE ? m->whole : place < m->split_at ? m->first : m->second;
}

static double gain_of(const struct sorter *s, const struct shifts *m)
{
    double sum = 0;
    for (size_t i = 0; i < s->between.n; i++) {
        const struct moved *j = &s->between.v[i];
        sum += value(j->from + shift_of(m, j->from_place), j->to + shift_of(m, j->to_place),
                     j->count, j->fallen);
    }
    for (size_t i = 0; m->split_at && i < s->across.n; i++) {
        const struct moved *j = &s->across.v[i];
        sum += value(j->from + shift_of(m, j->from_place), j->to + shift_of(m, j->to_place),
                     j->count, j->fallen) -
               value(j->from, j->to, j->count, j->fallen);
    }
    return sum;
}

static struct shifts shifts_of(enum join join, int64_t whole, int64_t split, int64_t first,
                               uint32_t split_at)
{
    switch (join) {
    case AFTER:
        return (struct shifts){.whole = split};
    case BEFORE:
        return (struct shifts){.first = whole, .second = whole};
    case BETWEEN:
        return (struct shifts){0, whole, first, split_at};
    case BEFORE_EXCHANGED:
        return (struct shifts){whole + split - first, whole - first, 0, split_at};
    case AFTER_EXCHANGED:
        return (struct shifts){split - first, -first, split, split_at};
    }
    __builtin_unreachable();
}

/* The entry stays in front of all others. */
static bool is_allowed(enum join join, bool entry_in_whole, bool entry_in_split)
{
    switch (join) {
    case AFTER:
    case BETWEEN:
        return !entry_in_whole;
    case BEFORE:
        return !entry_in_split;
    case BEFORE_EXCHANGED:
        return !entry_in_split;
    case AFTER_EXCHANGED:
        return !entry_in_split && !entry_in_whole;
    }
    __builtin_unreachable();
}

static void try_join(const struct sorter *s, struct way *best, const struct pair *p, bool splits_b,
                     enum join join, uint32_t split_at)
{
    uint32_t split = splits_b ? p->b : p->a, whole = splits_b ? p->a : p->b;
    const struct chain *c = &s->chains[split];
    if (!is_allowed(join, s->nodes[0].chain == whole, s->nodes[0].chain == split))
        return;
    int64_t first = split_at ? (int64_t)s->nodes[c->nodes.v[split_at]].at : 0;
    struct shifts m =
        shifts_of(join, (int64_t)s->chains[whole].size, (int64_t)c->size, first, split_at);
    double gain = gain_of(s, &m);
    if (gain > best->gain)
        *best = (struct way){gain, split_at, join, splits_b};
}

/* What it is worth that control falls from a node to another, more than a jump over no distance. */
static double fall(const struct sorter *s, uint32_t from, uint32_t to)
{
    for (uint32_t j = s->nodes[from].jumps; j < s->nodes[from + 1].jumps; j++)
        if (s->graph->jumps[j].to == to)
            return fallen_value(s->graph, j) - jump_weight * (double)s->graph->jumps[j].count;
    return 0;
}

/* The most that the jumps between two chains can be worth: of them two at most fall through. */
static double most_between(const struct sorter *s)
{
    double sum = 0, most = 0, second = 0;
    for (size_t i = 0; i < s->between.n; i++) {
        const struct moved *j = &s->between.v[i];
        double more = j->fallen - jump_weight * j->count;
        sum += jump_weight * j->count;
        second = more > most ? most : more > second ? more : second;
        most = more > most ? more : most;
    }
    return sum + most + second;
}

static bool has(const numbers *list, uint32_t number)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i] == number)
            return true;
    return false;
}

/* Places where the whole chain would be next to what it jumps to or from. */
static bool list_places(struct sorter *s, const struct chain *split)
{
    s->places.n = 0;
    if (split->nodes.n <= TRY_ALL) {
        for (uint32_t i = 1; i < split->nodes.n; i++)
            if (!pgk_vec_push(&s->places, i))
                return false;
        return true;
    }
    for (size_t i = 0; split->nodes.n <= TRY_NONE && i < s->between.n; i++) {
        const struct moved *j = &s->between.v[i];
        uint32_t place = j->from_place == NONE ? j->to_place : j->from_place + 1;
        if (place && place < split->nodes.n && !has(&s->places, place) &&
            !pgk_vec_push(&s->places, place))
            return false;
    }
    return true;
}

static bool try_splits(struct sorter *s, const struct pair *p, bool splits_b, struct way *best)
{
    uint32_t split = splits_b ? p->b : p->a;
    const struct chain *c = &s->chains[split];
    const uint32_t *nodes = c->nodes.v;
    if (c->nodes.n < 2)
        return true;
    if (!list_between(s, p, split))
        return false;
    /* Halves may fall through to each other in exchanged order, too. */
    const double most = most_between(s) + fall(s, nodes[c->nodes.n - 1], nodes[0]);
    if (most <= best->gain)
        return true;
    if (!list_places(s, c) || (s->places.n && !list_within(s, split)))
        return false;
    for (size_t i = 0; i < s->places.n; i++) {
        uint32_t place = s->places.v[i];
        if (s->nodes[nodes[place - 1]].is_only_way ||
            most - fall(s, nodes[place - 1], nodes[place]) <= best->gain)
            continue;
        list_across(s, place);
        for (enum join join = BETWEEN; join <= AFTER_EXCHANGED; join++)
            try_join(s, best, p, splits_b, join, place);
    }
    return true;
}

static bool weigh(struct sorter *s, uint32_t number)
{
    struct pair *p = &s->pairs.v[number];
    struct way best = {0};
    p->version++;
    p->is_stale = false;
    p->best = best;
    if (s->chains[p->a].nodes.n + s->chains[p->b].nodes.n > MOST_IN_CHAIN)
        return true;
    if (!list_between(s, p, p->a))
        return false;
    try_join(s, &best, p, false, AFTER, 0);
    try_join(s, &best, p, false, BEFORE, 0);
    if (!try_splits(s, p, false, &best) || !try_splits(s, p, true, &best))
        return false;
    p->best = best;
    return best.gain <= 0 ||
           pgk_gain_put(&s->heap, (struct pgk_gain){best.gain, number, p->version});
}

/* A pair with a chain that has changed is weighed when it seems to be the best: most are joined to
 * others before. Until then it is taken to gain what it gained before. */
static bool guess(struct sorter *s, uint32_t number)
{
    struct pair *p = &s->pairs.v[number];
    if (p->best.gain <= 0)
        return weigh(s, number);
    p->is_stale = true;
    p->version++;
    return pgk_gain_put(&s->heap, (struct pgk_gain){p->best.gain, number, p->version});
}

/* ---- joining chains ---- */

static bool append(numbers *to, const uint32_t *v, size_t n)
{
    if (!pgk_vec_reserve(to, n))
        return false;
    for (size_t i = 0; i < n; i++)
        to->v[to->n++] = v[i];
    return true;
}

/* Puts the nodes of both into `list`. */
static bool list_joined(struct sorter *s, const struct chain *whole, const struct chain *split,
                        enum join join, size_t at)
{
    const uint32_t *first = split->nodes.v, *second = first + at;
    const size_t rest = split->nodes.n - at;
    s->list.n = 0;
    switch (join) {
    case AFTER:
        return append(&s->list, first, split->nodes.n) &&
               append(&s->list, whole->nodes.v, whole->nodes.n);
    case BEFORE:
        return append(&s->list, whole->nodes.v, whole->nodes.n) &&
               append(&s->list, first, split->nodes.n);
    case BETWEEN:
        return append(&s->list, first, at) && append(&s->list, whole->nodes.v, whole->nodes.n) &&
               append(&s->list, second, rest);
    case BEFORE_EXCHANGED:
        return append(&s->list, whole->nodes.v, whole->nodes.n) && append(&s->list, second, rest) &&
               append(&s->list, first, at);
    case AFTER_EXCHANGED:
        return append(&s->list, second, rest) && append(&s->list, first, at) &&
               append(&s->list, whole->nodes.v, whole->nodes.n);
    }
    __builtin_unreachable();
}

/* Of chain `x`, which gets them all. */
static bool place_nodes(struct sorter *s, uint32_t x)
{
    struct chain *c = &s->chains[x];
    uint64_t at = 0;
    c->nodes.n = 0;
    if (!append(&c->nodes, s->list.v, s->list.n))
        return false;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        struct node *n = &s->nodes[c->nodes.v[i]];
        n->chain = x;
        n->place = i;
        n->at = at;
        at += s->graph->blocks[c->nodes.v[i]].size;
    }
    c->size = at;
    return true;
}

/* Of two pairs with one other chain one is left, and none of the chain with itself. */
static bool join_pairs(struct sorter *s, uint32_t x, uint32_t y)
{
    numbers *kept = &s->chains[x].pairs, *joined = &s->chains[y].pairs;
    size_t n = 0;
    if (!append(kept, joined->v, joined->n))
        return false;
    pgk_vec_free(joined);
    for (size_t i = 0; i < kept->n; i++) {
        struct pair *p = &s->pairs.v[kept->v[i]];
        p->a = p->a == y ? x : p->a;
        p->b = p->b == y ? x : p->b;
        uint32_t other = p->a == x ? p->b : p->a, same = s->pair_to[other];
        if (other == x || !p->jumps.n)
            continue;
        if (same == NONE) {
            s->pair_to[other] = kept->v[i];
            kept->v[n++] = kept->v[i];
        } else {
            if (!append(&s->pairs.v[same].jumps, p->jumps.v, p->jumps.n))
                return false;
            s->pairs.v[same].best.gain += p->best.gain;
            pgk_vec_free(&p->jumps);
            p->version++;
        }
    }
    kept->n = n;
    for (size_t i = 0; i < n; i++) {
        const struct pair *p = &s->pairs.v[kept->v[i]];
        s->pair_to[p->a == x ? p->b : p->a] = NONE;
    }
    return true;
}

static bool join_chains(struct sorter *s, uint32_t split, uint32_t whole, enum join join,
                        uint32_t at)
{
    struct chain *to = &s->chains[split], *from = &s->chains[whole];
    if (!list_joined(s, from, to, join, at) || !place_nodes(s, split))
        return false;
    pgk_vec_free(&from->nodes);
    from->gone = true;
    to->count += from->count;
    return join_pairs(s, split, whole);
}

static bool join(struct sorter *s, const struct pair *p)
{
    const struct way w = p->best;
    uint32_t split = w.splits_b ? p->b : p->a, whole = w.splits_b ? p->a : p->b;
    if (!join_chains(s, split, whole, w.join, w.split_at))
        return false;
    for (size_t i = 0; i < s->chains[split].pairs.n; i++)
        if (!guess(s, s->chains[split].pairs.v[i]))
            return false;
    return true;
}

/* ---- all of it ---- */

static bool open_sorter(struct sorter *s, const struct pgk_tsp_graph *g)
{
    *s = (struct sorter){.graph = g,
                         .nodes = pgk_mem_zalloc(g->n + 1, sizeof *s->nodes),
                         .chains = pgk_mem_zalloc(g->n, sizeof *s->chains),
                         .pair_to = pgk_mem_alloc(g->n, sizeof *s->pair_to)};
    if (!s->nodes || !s->chains || !s->pair_to)
        return false;
    uint32_t jump = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        while (jump < g->n_jumps && g->jumps[jump].from < i)
            jump++;
        s->nodes[i] = (struct node){.chain = i, .jumps = jump};
        s->chains[i] =
            (struct chain){.size = g->blocks[i].size, .count = (double)g->blocks[i].count};
        s->pair_to[i] = NONE;
        if (!pgk_vec_push(&s->chains[i].nodes, i))
            return false;
    }
    s->nodes[g->n].jumps = (uint32_t)g->n_jumps;
    return true;
}

static void close_sorter(struct sorter *s)
{
    for (size_t i = 0; s->chains && i < s->graph->n; i++) {
        pgk_vec_free(&s->chains[i].nodes);
        pgk_vec_free(&s->chains[i].pairs);
    }
    for (size_t i = 0; i < s->pairs.n; i++)
        pgk_vec_free(&s->pairs.v[i].jumps);
    pgk_vec_free(&s->pairs);
    pgk_vec_free(&s->heap);
    pgk_vec_free(&s->between);
    pgk_vec_free(&s->within);
    pgk_vec_free(&s->across);
    pgk_vec_free(&s->places);
    pgk_vec_free(&s->list);
    pgk_mem_free(s->nodes);
    pgk_mem_free(s->chains);
    pgk_mem_free(s->pair_to);
}

/* The only jump of a block, to a block that only it jumps to, falls through in every good order. */
static bool join_only_ways(struct sorter *s)
{
    const struct pgk_tsp_graph *g = s->graph;
    uint32_t *ways_in = pgk_mem_zalloc(g->n, sizeof *ways_in);
    bool ok = ways_in;
    for (size_t i = 0; ok && i < g->n_jumps; i++)
        ways_in[g->jumps[i].to]++;
    for (size_t i = 0; ok && i < g->n_jumps; i++) {
        const struct pgk_tsp_jump *j = &g->jumps[i];
        uint32_t x = s->nodes[j->from].chain, y = s->nodes[j->to].chain;
        if (!is_only_jump(g, i) || ways_in[j->to] != 1 || !j->to || x == y ||
            s->chains[x].nodes.n + s->chains[y].nodes.n > MOST_IN_CHAIN)
            continue;
        s->nodes[j->from].is_only_way = true;
        ok = join_chains(s, x, y, AFTER, 0);
    }
    pgk_mem_free(ways_in);
    return ok;
}

/* The pair of two chains; NONE when out of memory. */
static uint32_t pair_of(struct sorter *s, uint32_t a, uint32_t b)
{
    const numbers *of_a = &s->chains[a].pairs, *of_b = &s->chains[b].pairs;
    const numbers *fewer = of_a->n < of_b->n ? of_a : of_b;
    for (size_t i = 0; i < fewer->n; i++) {
        const struct pair *p = &s->pairs.v[fewer->v[i]];
        if ((p->a == a && p->b == b) || (p->a == b && p->b == a))
            return fewer->v[i];
    }
    uint32_t new = (uint32_t)s->pairs.n;
    return pgk_vec_push(&s->pairs, (struct pair){.a = a, .b = b}) &&
                   pgk_vec_push(&s->chains[a].pairs, new) && pgk_vec_push(&s->chains[b].pairs, new)
               ? new
               : NONE;
}

static bool add_pairs(struct sorter *s)
{
    for (uint32_t i = 0; i < s->graph->n_jumps; i++) {
        const struct pgk_tsp_jump *j = &s->graph->jumps[i];
        uint32_t a = s->nodes[j->from].chain, b = s->nodes[j->to].chain;
        if (a == b || !j->count)
            continue;
        uint32_t pair = pair_of(s, a, b);
        if (pair == NONE || !pgk_vec_push(&s->pairs.v[pair].jumps, i))
            return false;
    }
    for (uint32_t i = 0; i < s->pairs.n; i++)
        if (!weigh(s, i))
            return false;
    return true;
}

static bool join_all(struct sorter *s)
{
    while (s->heap.n) {
        struct pgk_gain best = pgk_gain_take(&s->heap);
        const struct pair *p = &s->pairs.v[best.pair];
        if (p->version == best.version && !(p->is_stale ? weigh(s, best.pair) : join(s, p)))
            return false;
    }
    return true;
}

/* The entry's chain, then those with most runs per byte. */
static int compare_chains(const void *a, const void *b, void *ctx)
{
    const struct sorter *s = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, entry = s->nodes[0].chain;
    if ((x == entry) != (y == entry))
        return x == entry ? -1 : 1;
    double of_x = s->chains[x].count * (double)s->chains[y].size;
    double of_y = s->chains[y].count * (double)s->chains[x].size;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool list_all(struct sorter *s, pgk_layout_list *order)
{
    s->list.n = 0;
    for (uint32_t i = 0; i < s->graph->n; i++)
        if (!s->chains[i].gone && !pgk_vec_push(&s->list, i))
            return false;
    qsort_r(s->list.v, s->list.n, sizeof *s->list.v, compare_chains, s);
    for (size_t i = 0; i < s->list.n; i++) {
        const numbers *nodes = &s->chains[s->list.v[i]].nodes;
        if (!pgk_vec_reserve(order, nodes->n))
            return false;
        for (size_t k = 0; k < nodes->n; k++)
            order->v[order->n++] = nodes->v[k];
    }
    return true;
}

bool pgk_ext_tsp_order(pgk_layout_list *order, const struct pgk_tsp_graph *graph)
{
    struct sorter s;
    if (!graph->n)
        return true;
    bool ok = open_sorter(&s, graph) && join_only_ways(&s) && add_pairs(&s) && join_all(&s) &&
              list_all(&s, order);
    close_sorter(&s);
    return ok;
}
