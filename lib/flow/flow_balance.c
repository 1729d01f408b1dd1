/* Counts of blocks that flow can have.
 *
 * Each block is an arc from its `in` to its `out` node. Its measured count is there to begin with,
 * as supply at `out` and demand at `in`; what the network moves from supply to demand is what
 * control did between blocks, and at a cost a block can take more (in to out) or give some back
 * (out to in), which is always a path, if the dearest one:
 *
 *     supply ──count──► out ──► in ──count──► demand
 *                        ▲       │
 *                        └─ more ┘ / less
 *
 * The flow of least cost comes by the primal-dual method: costs are small integers, so there are
 * few lengths of a shortest path, and for each one blocking flows (Dinic) take all paths of it at
 * once. */
#include "flow_balance.h"

enum { SUPPLY, DEMAND, OUTSIDE, FIXED_NODES };
#define UNBOUNDED (UINT64_MAX / 4)
#define FAR UINT32_MAX

struct arc { /* its reverse is the adjacent one: number ^ 1 */
    uint32_t to, next;
    int32_t cost;
    uint64_t left;
};

struct network {
    PGK_VEC(struct arc) arcs;
    uint32_t n;
    uint32_t *first;     /* by node: arc, FAR: none */
    uint32_t *length;    /* of the shortest path from SUPPLY */
    uint32_t *level, *at, *queue;
    bool *queued;
};

static uint32_t in_of(uint32_t block)
{
    return FIXED_NODES + 2 * block;
}

static uint32_t out_of(uint32_t block)
{
    return in_of(block) + 1;
}

/* The number of the arc; FAR when out of memory. */
static uint32_t add_arc(struct network *w, uint32_t from, uint32_t to, uint64_t capacity,
                        uint32_t cost)
{
    uint32_t number = (uint32_t)w->arcs.n;
    if (!pgk_vec_reserve(&w->arcs, 2))
        return FAR;
    w->arcs.v[w->arcs.n++] = (struct arc){to, w->first[from], (int32_t)cost, capacity};
    w->first[from] = number;
    w->arcs.v[w->arcs.n++] = (struct arc){from, w->first[to], -(int32_t)cost, 0};
    w->first[to] = number + 1;
    return number;
}

static bool open_network(struct network *w, uint32_t blocks)
{
    w->n = FIXED_NODES + 2 * blocks;
    w->first = pgk_mem_alloc(w->n, 5 * sizeof *w->first);
    w->queued = pgk_mem_zalloc(w->n, sizeof *w->queued);
    if (!w->first || !w->queued)
        return false;
    memset(w->first, 0xff, w->n * sizeof *w->first);
    w->length = w->first + w->n;
    w->level = w->length + w->n;
    w->at = w->level + w->n;
    w->queue = w->at + w->n;
    return true;
}

static void close_network(struct network *w)
{
    pgk_vec_free(&w->arcs);
    pgk_mem_free(w->first);
    pgk_mem_free(w->queued);
}

/* Lengths of the shortest paths from SUPPLY, with costs as they are. The queue is a ring: a node
 * is in it once at most. */
static bool find_lengths(struct network *w)
{
    memset(w->length, 0xff, w->n * sizeof *w->length);
    w->length[SUPPLY] = 0;
    w->queue[0] = SUPPLY;
    for (uint32_t head = 0, n = 1; n; n--) {
        uint32_t node = w->queue[head];
        head = head + 1 == w->n ? 0 : head + 1;
        w->queued[node] = false;
        for (uint32_t a = w->first[node]; a != FAR; a = w->arcs.v[a].next) {
            const struct arc *arc = &w->arcs.v[a];
            uint32_t length = w->length[node] + (uint32_t)arc->cost;
            if (!arc->left || length >= w->length[arc->to])
                continue;
            w->length[arc->to] = length;
            if (!w->queued[arc->to]) {
                w->queued[arc->to] = true;
                w->queue[(head + n - 1) % w->n] = arc->to;
                n++;
            }
        }
    }
    return w->length[DEMAND] != FAR;
}

/* Whether an arc lies on a shortest path. */
static bool is_short(const struct network *w, uint32_t from, const struct arc *arc)
{
    return arc->left && w->length[from] != FAR &&
           w->length[from] + (uint32_t)arc->cost == w->length[arc->to];
}

/* How many arcs of shortest paths lie between SUPPLY and each node. */
static bool find_levels(struct network *w)
{
    memset(w->level, 0xff, w->n * sizeof *w->level);
    memcpy(w->at, w->first, w->n * sizeof *w->at);
    w->level[SUPPLY] = 0;
    w->queue[0] = SUPPLY;
    for (uint32_t i = 0, n = 1; i < n; i++) {
        uint32_t node = w->queue[i];
        for (uint32_t a = w->first[node]; a != FAR; a = w->arcs.v[a].next) {
            const struct arc *arc = &w->arcs.v[a];
            if (w->level[arc->to] == FAR && is_short(w, node, arc)) {
                w->level[arc->to] = w->level[node] + 1;
                w->queue[n++] = arc->to;
            }
        }
    }
    return w->level[DEMAND] != FAR;
}

/* Moves as much as the path in `queue`, of arcs, can take. Returns how far along it nothing is left
 * to be done again. */
static uint32_t move_along(struct network *w, uint32_t depth)
{
    uint64_t amount = UINT64_MAX;
    uint32_t full = 0;
    for (uint32_t i = depth; i-- > 0;)
        if (w->arcs.v[w->queue[i]].left <= amount) {
            amount = w->arcs.v[w->queue[i]].left;
            full = i;
        }
    for (uint32_t i = 0; i < depth; i++) {
        w->arcs.v[w->queue[i]].left -= amount;
        w->arcs.v[w->queue[i] ^ 1].left += amount;
    }
    return full;
}

/* A blocking flow over arcs that lead one level on; `queue` holds the path from SUPPLY. */
static void move_flow(struct network *w)
{
    uint32_t depth = 0, node = SUPPLY;
    for (;;) {
        if (node == DEMAND) {
            depth = move_along(w, depth);
            node = w->arcs.v[w->queue[depth] ^ 1].to;
        }
        uint32_t a = w->at[node];
        while (a != FAR && !(w->level[w->arcs.v[a].to] == w->level[node] + 1 &&
                             is_short(w, node, &w->arcs.v[a])))
            a = w->arcs.v[a].next;
        w->at[node] = a;
        if (a != FAR) {
            w->queue[depth++] = a;
            node = w->arcs.v[a].to;
        } else if (!depth) {
            return;
        } else {
            w->level[node] = FAR; /* a dead end */
            node = w->arcs.v[w->queue[--depth] ^ 1].to;
        }
    }
}

/* ---- blocks ---- */

/* Of a block's arcs, with their reverses. */
enum { MORE = 0, LESS = 2, LEAVE = 4, BLOCK_ARCS = 12 };

static bool add_block(struct network *w, uint32_t i, const struct pgk_flow_block *b)
{
    uint32_t in = in_of(i), out = out_of(i);
    return add_arc(w, in, out, UNBOUNDED, b->cost) != FAR &&
           add_arc(w, out, in, b->count, 2 * b->cost) != FAR &&
           add_arc(w, out, OUTSIDE, b->is_exit ? UNBOUNDED : 0, 0) != FAR &&
           add_arc(w, OUTSIDE, in, b->is_entry ? UNBOUNDED : 0, 0) != FAR &&
           add_arc(w, SUPPLY, out, b->count, 0) != FAR &&
           add_arc(w, in, DEMAND, b->count, 0) != FAR;
}

static uint64_t moved(const struct network *w, uint32_t arc)
{
    return w->arcs.v[arc ^ 1].left;
}

static bool balance(struct network *w, pgk_flow_blocks *blocks, pgk_flow_edges *edges)
{
    uint32_t n = (uint32_t)blocks->n, first_edge = n * BLOCK_ARCS;
    if (!open_network(w, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!add_block(w, i, &blocks->v[i]))
            return false;
    for (size_t i = 0; i < edges->n; i++)
        if (add_arc(w, out_of(edges->v[i].from), in_of(edges->v[i].to), UNBOUNDED, 0) == FAR)
            return false;
    while (find_lengths(w))
        while (find_levels(w))
            move_flow(w);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t arc = i * BLOCK_ARCS;
        blocks->v[i].count += moved(w, arc + MORE) - moved(w, arc + LESS);
        blocks->v[i].leaves = moved(w, arc + LEAVE);
    }
    for (size_t i = 0; i < edges->n; i++)
        edges->v[i].count = moved(w, first_edge + 2 * (uint32_t)i);
    return true;
}

/* ---- connection ---- */

struct paths {
    pgk_flow_blocks *blocks;
    pgk_flow_edges *edges;
    uint32_t *first, *next;       /* edges of a block, FAR: no more */
    uint32_t *came_by, *queue;    /* edge by which a block was reached */
    bool *reached;                /* from an entry, by what ran */
    uint32_t entry;
};

#define UNSEEN UINT32_MAX
#define START (UINT32_MAX - 1)

/* Marks what is reached from the entries over edges that ran. */
static void mark_reached(struct paths *w)
{
    uint32_t n = 0;
    memset(w->reached, 0, w->blocks->n * sizeof *w->reached);
    for (uint32_t i = 0; i < w->blocks->n; i++)
        if (w->blocks->v[i].is_entry && (i == w->entry || w->blocks->v[i].count)) {
            w->reached[i] = true;
            w->queue[n++] = i;
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = w->first[w->queue[i]]; e != FAR; e = w->next[e]) {
            uint32_t to = w->edges->v[e].to;
            if (!w->edges->v[e].count || w->reached[to])
                continue;
            w->reached[to] = true;
            w->queue[n++] = to;
        }
}

/* The nearest block to `from` over any edges that is wanted: `to`, or, if that is UNSEEN, an exit;
 * UNSEEN: there is none. */
static uint32_t find_path(struct paths *w, uint32_t from, uint32_t to)
{
    memset(w->came_by, 0xff, w->blocks->n * sizeof *w->came_by);
    w->came_by[from] = START;
    w->queue[0] = from;
    for (uint32_t i = 0, n = 1; i < n; i++) {
        uint32_t block = w->queue[i];
        if (to == UNSEEN ? w->blocks->v[block].is_exit : block == to)
            return block;
        for (uint32_t e = w->first[block]; e != FAR; e = w->next[e])
            if (w->came_by[w->edges->v[e].to] == UNSEEN) {
                w->came_by[w->edges->v[e].to] = e;
                w->queue[n++] = w->edges->v[e].to;
            }
    }
    return UNSEEN;
}

/* Adds to all on the path that ends at `block`, but not to the block that it starts from. */
static void run_path(struct paths *w, uint32_t block, uint64_t unit)
{
    while (w->came_by[block] != START) {
        struct pgk_flow_edge *e = &w->edges->v[w->came_by[block]];
        w->blocks->v[block].count += unit;
        e->count += unit;
        block = e->from;
    }
}

/* A loop that was sampled and the path to it that was not are a circulation each: one round is let
 * come in, and go out. */
static void connect(struct paths *w, uint64_t unit)
{
    mark_reached(w);
    for (uint32_t i = 0; i < w->blocks->n; i++) {
        if (!w->blocks->v[i].count || w->reached[i] || find_path(w, w->entry, i) == UNSEEN)
            continue;
        w->blocks->v[w->entry].count += unit;
        run_path(w, i, unit);
        uint32_t exit = find_path(w, i, UNSEEN);
        if (exit != UNSEEN) {
            run_path(w, exit, unit);
            w->blocks->v[exit].leaves += unit;
        }
        mark_reached(w);
    }
}

static bool connect_blocks(pgk_flow_blocks *blocks, pgk_flow_edges *edges, uint32_t entry,
                           uint64_t unit)
{
    size_t n = blocks->n;
    struct paths w = {.blocks = blocks, .edges = edges, .entry = entry};
    w.first = pgk_mem_alloc(3 * n + edges->n, sizeof *w.first);
    w.reached = pgk_mem_zalloc(n, sizeof *w.reached);
    bool ok = w.first && w.reached;
    if (ok) {
        w.came_by = w.first + n;
        w.queue = w.came_by + n;
        w.next = w.queue + n;
        memset(w.first, 0xff, n * sizeof *w.first);
        for (uint32_t e = (uint32_t)edges->n; e-- > 0;) {
            w.next[e] = w.first[edges->v[e].from];
            w.first[edges->v[e].from] = e;
        }
        connect(&w, unit);
    }
    pgk_mem_free(w.first);
    pgk_mem_free(w.reached);
    return ok;
}

bool pgk_flow_balance(pgk_flow_blocks *blocks, pgk_flow_edges *edges, uint32_t entry, uint64_t unit)
{
    struct network w = {0};
    bool ok = balance(&w, blocks, edges) && connect_blocks(blocks, edges, entry, unit);
    close_network(&w);
    return ok;
}
