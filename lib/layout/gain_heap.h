/* Pairs of chains by what joining them gains, the highest gain first; of equal ones the pair with
 * the lowest number. Gains of a former version of a pair are for the caller to pass over. */
#ifndef PGK_GAIN_HEAP_H
#define PGK_GAIN_HEAP_H

#include "vec.h"

#include <stdint.h>

struct pgk_gain {
    double gain;
    uint32_t pair, version;
};

typedef PGK_VEC(struct pgk_gain) pgk_gain_heap;

/* False when out of memory. */
bool pgk_gain_put(pgk_gain_heap *heap, struct pgk_gain gain);
/* The heap must not be empty. */
struct pgk_gain pgk_gain_take(pgk_gain_heap *heap);

#endif
