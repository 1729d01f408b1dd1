/* Counts of the blocks of a function that flow can have: as often as control enters a block it
 * leaves it. Samples of single instructions never add up so; what is least to be changed of them
 * is a circulation of minimal cost.
 *
 * Source: R. Levin, I. Newman, G. Haber, Complementing missing and inaccurate profiling using a
 * minimum cost circulation algorithm, HiPEAC 2008. */
#ifndef PGK_FLOW_BALANCE_H
#define PGK_FLOW_BALANCE_H

#include "vec.h"

#include <stdint.h>

#define PGK_FLOW_MOST (UINT64_C(1) << 40) /* that may be measured, so that no sum overflows */

struct pgk_flow_block {
    uint64_t count;  /* measured; then balanced */
    uint64_t leaves; /* then: how often control left the function at its end */
    uint32_t cost;   /* of changing the count by one */
    bool is_entry;   /* control may come from outside of the function */
    bool is_exit;    /* control may leave the function at its end */
};

struct pgk_flow_edge {
    uint32_t from, to; /* blocks */
    uint64_t count;    /* then */
};

typedef PGK_VEC(struct pgk_flow_block) pgk_flow_blocks;
typedef PGK_VEC(struct pgk_flow_edge) pgk_flow_edges;

/* Balances the counts of one block or more. What ran is then connected: from the block `entry`,
 * through `unit` at least, to every block that counts and on to an exit, where there is a path.
 * False when out of memory. */
bool pgk_flow_balance(pgk_flow_blocks *blocks, pgk_flow_edges *edges, uint32_t entry,
                      uint64_t unit);

#endif
