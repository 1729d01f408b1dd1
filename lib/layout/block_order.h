/* A new order of the code of a binary: the blocks that ran, by function, and the functions.
 * docs/formats/propeller.md section 4 */
#ifndef PGK_BLOCK_ORDER_H
#define PGK_BLOCK_ORDER_H

#include "block_flow.h"

struct pgk_ordered_function {
    uint32_t function; /* of the map */
    uint32_t first, n; /* in `blocks` */
    uint64_t size;     /* of these blocks, in bytes */
};

struct pgk_block_order {
    PGK_VEC(struct pgk_ordered_function) functions; /* that ran, in the order of the map */
    pgk_layout_list blocks;  /* of the map: those that ran, in their new order by function; the
                              * entry is the first */
    pgk_layout_list order;   /* positions in `functions` */
    double score_now, score; /* ext-TSP of the binary as it is, and of this order */
    uint64_t all;            /* counts of all ways from block to block: no score / 1.05 is more */
    uint64_t taken;          /* of them, by jumps that the new order has taken */
};

/* False when out of memory. */
bool pgk_block_order_make(struct pgk_block_order *order, const struct pgk_block_flow *flow);
void pgk_block_order_free(struct pgk_block_order *order);

#endif
