/* How code that ran lies: on how many pages and lines of the cache, as it is and in new orders. */
#ifndef PGK_CODE_PLACES_H
#define PGK_CODE_PLACES_H

#include "block_order.h"

#include <pgokit/gen.h>

/* Fills what `layout` says of places, taken jumps and scores. False when out of memory. */
bool pgk_code_places(struct pgk_gen_layout *layout, const struct pgk_block_flow *flow,
                     const struct pgk_block_order *order);

#endif
