/* The control flow of a function. Dominators are found as by Georgiadis, "Linear-Time Algorithms
 * for Dominators and Related Problems" (Semi-NCA); a natural loop is a header and all that reaches
 * an edge back to it. The work is near linear in edges: generated functions have very many. */
#include "plan_graph.h"

#include "plan_memory.h"

void pgc_graph_open(struct pgc_graph *g, uint32_t blocks)
{
    *g = (struct pgc_graph){.blocks = blocks};
    g->out = pgc_zeroed(blocks + 1, sizeof *g->out);
    g->in = pgc_zeroed(blocks + 2, sizeof *g->in);
    g->order = pgc_zeroed(blocks, sizeof *g->order);
    g->place = pgc_zeroed(blocks, sizeof *g->place);
    g->idom = pgc_zeroed(blocks, sizeof *g->idom);
    g->first = pgc_zeroed(blocks, sizeof *g->first);
    g->dominated = pgc_zeroed(blocks, sizeof *g->dominated);
    g->loop = pgc_zeroed(blocks, sizeof *g->loop);
    g->outer = pgc_zeroed(blocks, sizeof *g->outer);
    for (uint32_t b = 0; b < blocks; b++)
        g->place[b] = g->idom[b] = g->loop[b] = g->outer[b] = PGC_NONE;
}

void pgc_graph_close(struct pgc_graph *g)
{
    uint32_t *const all[] = {g->out,  g->in,    g->into,      g->order, g->place,
                             g->idom, g->first, g->dominated, g->loop,  g->outer};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(g->edges);
    *g = (struct pgc_graph){0};
}

void pgc_graph_edge(struct pgc_graph *g, uint32_t from, uint32_t to)
{
    PGC_PUSH(g->edges, g->n_edges, g->capacity,
             (struct pgc_edge){.from = from, .to = to, .times = 1});
    g->out[from + 1] = (uint32_t)g->n_edges;
}

static void index_edges(struct pgc_graph *g)
{
    for (uint32_t b = 0; b < g->blocks; b++)
        if (g->out[b + 1] < g->out[b])
            g->out[b + 1] = g->out[b];
    /* Counted two places on, so that filling in moves each start to where it belongs. */
    for (size_t e = 0; e < g->n_edges; e++)
        g->in[g->edges[e].to + 2]++;
    for (uint32_t b = 0; b < g->blocks; b++)
        g->in[b + 2] += g->in[b + 1];
    g->into = pgc_zeroed(g->n_edges, sizeof *g->into);
    for (uint32_t e = 0; e < g->n_edges; e++)
        g->into[g->in[g->edges[e].to + 1]++] = e;
}

static void number_blocks(struct pgc_graph *g)
{
    uint32_t *stack = pgc_zeroed(g->blocks, sizeof *stack);
    uint32_t *next = pgc_zeroed(g->blocks, sizeof *next);
    uint32_t depth = 0, left = g->blocks;
    stack[depth++] = 0;
    g->place[0] = 0; /* visited; the number comes when it is left */
    next[0] = g->out[0];
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next[b] == g->out[b + 1]) {
            g->order[--left] = b;
            depth--;
            continue;
        }
        uint32_t to = g->edges[next[b]++].to;
        if (g->place[to] != PGC_NONE)
            continue;
        g->place[to] = 0;
        next[to] = g->out[to];
        stack[depth++] = to;
    }
    g->reached = g->blocks - left;
    for (uint32_t i = 0; i < g->reached; i++) {
        g->order[i] = g->order[i + left];
        g->place[g->order[i]] = i;
    }
    free(stack);
    free(next);
    for (size_t e = 0; e < g->n_edges; e++) {
        struct pgc_edge *edge = &g->edges[e];
        edge->retreats =
            pgc_reached(g, edge->from) && g->place[edge->to] <= g->place[edge->from];
    }
}

/* ---- dominators ---- */

/* Blocks by number in preorder of a depth-first search. */
struct search {
    uint32_t n;
    uint32_t *block, *number; /* each is the other's index */
    uint32_t *parent;         /* in the tree; then a shorter path up, as it becomes known */
    uint32_t *semi;  /* least number from which all blocks between have greater ones */
    uint32_t *label; /* on the path up so far, the one of the least semi */
    uint32_t *idom, *stack;
};

static struct search search_begin(const struct pgc_graph *g)
{
    struct search s = {0};
    uint32_t **const arrays[] = {&s.block, &s.number, &s.parent, &s.semi,
                                 &s.label, &s.idom,   &s.stack};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = pgc_zeroed(g->blocks, sizeof **arrays[i]);
    return s;
}

static void search_end(struct search *s)
{
    uint32_t *const arrays[] = {s->block, s->number, s->parent, s->semi,
                                s->label, s->idom,   s->stack};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void visit(struct search *s, uint32_t block, uint32_t parent)
{
    s->block[s->n] = block;
    s->number[block] = s->label[s->n] = s->semi[s->n] = s->n;
    s->parent[s->n] = s->idom[s->n] = parent;
    s->n++;
}

static void number_in_preorder(const struct pgc_graph *g, struct search *s)
{
    uint32_t *next = pgc_zeroed(g->blocks, sizeof *next), depth = 0;
    visit(s, 0, 0);
    s->stack[depth++] = 0;
    while (depth) {
        uint32_t b = s->stack[depth - 1];
        if (g->out[b] + next[b] == g->out[b + 1]) {
            depth--;
            continue;
        }
        uint32_t to = g->edges[g->out[b] + next[b]++].to;
        if (s->block[s->number[to]] == to && s->number[to] < s->n)
            continue;
        visit(s, to, s->number[b]);
        s->stack[depth++] = to;
    }
    free(next);
}

/* The block of the least semi on the path up from v through finished blocks, which begin at `done`.
 * Shortens the path for the next time. */
static uint32_t least_above(struct pgc_graph *g, struct search *s, uint32_t v, uint32_t done)
{
    uint32_t depth = 0, above;
    for (; s->parent[v] >= done; v = s->parent[v])
        s->stack[depth++] = v;
    above = v;
    while (depth) {
        v = s->stack[--depth];
        s->parent[v] = s->parent[above];
        if (s->semi[s->label[above]] < s->semi[s->label[v]])
            s->label[v] = s->label[above];
        above = v;
        g->steps++;
    }
    return s->label[v];
}

static void find_dominators(struct pgc_graph *g)
{
    struct search s = search_begin(g);
    number_in_preorder(g, &s);
    for (uint32_t i = s.n; i-- > 1;) {
        s.semi[i] = s.parent[i];
        for (uint32_t k = g->in[s.block[i]]; k < g->in[s.block[i] + 1]; k++) {
            uint32_t from = g->edges[g->into[k]].from;
            g->steps++;
            if (!pgc_reached(g, from))
                continue;
            uint32_t semi = s.semi[least_above(g, &s, s.number[from], i + 1)];
            if (semi < s.semi[i])
                s.semi[i] = semi;
        }
    }
    g->idom[0] = 0;
    for (uint32_t i = 1; i < s.n; i++) {
        for (; s.idom[i] > s.semi[i]; g->steps++)
            s.idom[i] = s.idom[s.idom[i]];
        g->idom[s.block[i]] = s.block[s.idom[i]];
    }
    search_end(&s);
}

/* In preorder of the tree of dominators, what a block dominates comes right after it. */
static void number_dominated(struct pgc_graph *g)
{
    uint32_t *next = pgc_zeroed(g->blocks, sizeof *next);
    for (uint32_t i = g->reached; i-- > 0;) {
        uint32_t b = g->order[i];
        g->dominated[b]++;
        if (b)
            g->dominated[g->idom[b]] += g->dominated[b];
    }
    next[0] = 1;
    for (uint32_t i = 1; i < g->reached; i++) {
        uint32_t b = g->order[i], above = g->idom[b];
        g->first[b] = next[above];
        next[above] += g->dominated[b];
        next[b] = g->first[b] + 1;
    }
    free(next);
}

bool pgc_dominates(const struct pgc_graph *g, uint32_t a, uint32_t b)
{
    return g->first[b] - g->first[a] < g->dominated[a];
}

/* ---- loops ---- */

/* Takes a block, or the whole loop that it was found to be in before, into the loop of a header:
 * the block whose predecessors then have to be looked at; PGC_NONE: it is in that loop already. */
static uint32_t take_into_loop(struct pgc_graph *g, uint32_t header, uint32_t b)
{
    uint32_t inner = g->loop[b];
    for (; inner != PGC_NONE && inner != header && g->outer[inner] != PGC_NONE; g->steps++)
        inner = g->outer[inner];
    if (b == header || inner == header)
        return PGC_NONE;
    if (inner == PGC_NONE)
        g->loop[b] = header;
    else
        g->outer[inner] = header;
    return inner == PGC_NONE ? b : inner;
}

/* The blocks that reach an edge back to the header without passing it. */
static void fill_loop(struct pgc_graph *g, uint32_t header, uint32_t *stack)
{
    uint32_t depth = 0;
    for (uint32_t i = g->in[header]; i < g->in[header + 1]; i++) {
        const struct pgc_edge *edge = &g->edges[g->into[i]];
        if (!edge->closes)
            continue;
        g->loop[header] = header;
        stack[depth++] = edge->from;
    }
    while (depth) {
        uint32_t b = take_into_loop(g, header, stack[--depth]);
        for (uint32_t i = b == PGC_NONE ? 0 : g->in[b]; b != PGC_NONE && i < g->in[b + 1]; i++) {
            uint32_t from = g->edges[g->into[i]].from;
            g->steps++;
            if (pgc_reached(g, from))
                stack[depth++] = from;
        }
    }
}

/* Inner loops first: their headers come later in reverse postorder. */
static void find_loops(struct pgc_graph *g)
{
    /* Each edge is followed once in each loop. */
    uint32_t *stack = pgc_zeroed(2 * g->n_edges + 1, sizeof *stack);
    for (uint32_t i = g->reached; i-- > 0;)
        fill_loop(g, g->order[i], stack);
    free(stack);
}

static void find_closing_edges(struct pgc_graph *g)
{
    for (size_t e = 0; e < g->n_edges; e++)
        g->edges[e].closes =
            g->edges[e].retreats && pgc_dominates(g, g->edges[e].to, g->edges[e].from);
}

void pgc_graph_finish(struct pgc_graph *g)
{
    index_edges(g);
    number_blocks(g);
    find_dominators(g);
    number_dominated(g);
    find_closing_edges(g);
    find_loops(g);
}

unsigned pgc_loop_depth(const struct pgc_graph *g, uint32_t block)
{
    unsigned depth = 0;
    for (uint32_t loop = g->loop[block]; loop != PGC_NONE; loop = g->outer[loop])
        depth++;
    return depth;
}
