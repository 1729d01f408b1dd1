/* Callers before what they call: the order in which the pre-inliner goes through functions. */
#ifndef PGK_CALL_ORDER_H
#define PGK_CALL_ORDER_H

#include "vec.h"

#include <stdint.h>

/* Functions are numbers 0 .. n-1. */
struct pgk_call_arc {
    uint32_t caller, callee;
    uint64_t weight;
};
typedef PGK_VEC(struct pgk_call_arc) pgk_arc_vec;

/* Sorts, and adds those of one pair up. */
void pgk_arcs_add_up(pgk_arc_vec *arcs);

/* Fills `order`, which has space for `n` functions. Functions that call each other are adjacent,
 * with the most frequent calls going forward. `arcs` are added up. False when out of memory. */
bool pgk_call_order(const pgk_arc_vec *arcs, uint32_t n, uint32_t *order);

#endif
