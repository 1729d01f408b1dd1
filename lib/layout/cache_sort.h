/* Cache-directed sort of functions. docs/formats/function-order.md
 *
 * Functions are joined into chains while that lets more calls stay within a few cache lines and
 * pages; the densest chains come first. The model is that of E. Hoag, K. Lee, J. Mestre and
 * S. Pupyrev, "Optimizing Function Layout for Mobile Applications" (LCTES 2023), and of LLVM's
 * cache-directed sort; joining chains by calls goes back to G. Ottoni and B. Maher, "Optimizing
 * Function Placement for Large-Scale Data-Center Applications" (CGO 2017). */
#ifndef PGK_CACHE_SORT_H
#define PGK_CACHE_SORT_H

#include "call_graph.h"

#include <stdbool.h>

typedef PGK_VEC(uint32_t) pgk_layout_list;

/* Adds the functions that ran to the empty `order`. The result depends on nothing but the graph.
 * Time is about proportional to the calls. False when out of memory. */
bool pgk_layout_order(pgk_layout_list *order, const struct pgk_call_graph *graph);

/* What the order is worth: the sum over calls of count / distance^(1/4), distances in bytes, where
 * functions follow each other without gaps. Functions that are not in it count for nothing. */
bool pgk_layout_score(double *score, const pgk_layout_list *order,
                              const struct pgk_call_graph *graph);

#endif
