/* How control went from block to block: counts of code that ran and of branches, by the blocks of a
 * map. docs/formats/propeller.md section 3 */
#ifndef PGK_BLOCK_FLOW_H
#define PGK_BLOCK_FLOW_H

#include "block_map.h"
#include "counters.h"
#include "ext_tsp.h"

struct pgk_block_call {
    uint32_t from, to; /* a block, and the function that is entered */
    uint64_t offset;   /* of the call, in bytes from the start of the block */
    uint64_t count;
};

struct pgk_block_flow {
    const struct pgk_block_map *map;
    uint64_t *counts;                   /* by block: how often it ran; 0: it was not seen */
    PGK_VEC(struct pgk_tsp_jump) jumps; /* between blocks of one function, ascending, each once */
    PGK_VEC(struct pgk_block_call) calls;
    uint64_t taken, fallen; /* ways from block to block: by a jump that was taken, or not */
};

/* Keeps `map`. Counts are sorted; sources and targets of branches are addresses. False when out of
 * memory. */
bool pgk_block_flow_count(struct pgk_block_flow *flow, const struct pgk_block_map *map,
                          const struct pgk_pairs *ranges, const struct pgk_pairs *branches);
void pgk_block_flow_free(struct pgk_block_flow *flow);

#endif
