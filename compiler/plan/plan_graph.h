/* The control flow of a function: blocks, edges, dominators, natural loops. */
#ifndef PGC_PLAN_GRAPH_H
#define PGC_PLAN_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PGC_NONE UINT32_MAX

struct pgc_edge {
    uint32_t from, to;
    uint32_t times; /* how often the one block names the other */
    bool retreats; /* does not lead on in reverse postorder */
    bool closes;   /* leads back to the header of the natural loop that it comes from */
};

/* Blocks are numbered from 0, the entry. Edges are numbered by block, then by successor. */
struct pgc_graph {
    uint32_t blocks;
    struct pgc_edge *edges;
    size_t n_edges, capacity;
    uint32_t *out;  /* edges out of block b are out[b] to out[b + 1] */
    uint32_t *in;   /* those into it are into[in[b]] to into[in[b + 1]] */
    uint32_t *into; /* numbers of edges */
    uint32_t *order, reached; /* blocks that can be reached, in reverse postorder */
    uint32_t *place;  /* of a block in that order; PGC_NONE: not reached */
    uint32_t *idom;   /* of a block, the one that dominates it and nothing else between */
    uint32_t *first, *dominated; /* number in preorder of these; blocks that it dominates */
    uint32_t *loop;   /* header of the innermost natural loop around a block; PGC_NONE: none */
    uint32_t *outer;  /* of a header, that of the next loop around its own */
    uint64_t steps;   /* that finding all this took, for tests */
};

void pgc_graph_open(struct pgc_graph *g, uint32_t blocks);
/* Edges are added in the order of their blocks. */
void pgc_graph_edge(struct pgc_graph *g, uint32_t from, uint32_t to);
void pgc_graph_finish(struct pgc_graph *g);
void pgc_graph_close(struct pgc_graph *g);

static inline bool pgc_reached(const struct pgc_graph *g, uint32_t block)
{
    return g->place[block] != PGC_NONE;
}

/* Of blocks that are reached. A block dominates itself. */
bool pgc_dominates(const struct pgc_graph *g, uint32_t a, uint32_t b);
unsigned pgc_loop_depth(const struct pgc_graph *g, uint32_t block);

#endif
