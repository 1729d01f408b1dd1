/* An order of the blocks of a function by ext-TSP: most jumps fall through, and others are short.
 *
 * A. Newell and S. Pupyrev, "Improved Basic Block Reordering" (IEEE Transactions on Computers,
 * 2020): what an order is worth is the sum over jumps of
 *
 *     count                                       where the target follows the jump's block
 *     count * 0.1 * (1 - distance / 1024)         jumps forward over less than 1024 bytes
 *     count * 0.1 * (1 - distance / 640)          jumps back over less than 640 bytes
 *
 * and, as in LLVM, 1.05 * count if the block that falls through has no other jump.
 * docs/formats/propeller.md */
#ifndef PGK_EXT_TSP_H
#define PGK_EXT_TSP_H

#include "cache_sort.h"

struct pgk_tsp_block {
    uint64_t size;  /* bytes */
    uint64_t count; /* how often it ran */
};

struct pgk_tsp_jump {  /* or what falls through */
    uint32_t from, to; /* blocks; a jump of a block to itself has no say in the order */
    uint64_t count;
};

struct pgk_tsp_graph { /* block 0 is the entry, which comes first */
    const struct pgk_tsp_block *blocks;
    size_t n;
    const struct pgk_tsp_jump *jumps; /* each pair once, ascending by `from` */
    size_t n_jumps;
};

/* Adds all blocks to the empty `order`. The result depends on nothing but the graph. Time is about
 * proportional to the jumps. False when out of memory. */
bool pgk_ext_tsp_order(pgk_layout_list *order, const struct pgk_tsp_graph *graph);

/* What an order is worth; it may leave blocks out, and jumps of these count for nothing. False when
 * out of memory. */
bool pgk_ext_tsp_score(double *score, const uint32_t *order, size_t n,
                       const struct pgk_tsp_graph *graph);

/* The same of blocks at given addresses. `at` by block; UINT64_MAX: not there. */
double pgk_ext_tsp_score_at(const uint64_t *at, const struct pgk_tsp_graph *graph);

#endif
