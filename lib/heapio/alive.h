/* Objects that were alive when a process was killed. docs/formats/interrupted-heap.md */
#ifndef PGK_ALIVE_H
#define PGK_ALIVE_H

#include "mib.h"

/* The objects of a context that were allocated in sheets less those freed there: those alive in the
 * end. Differences of unsigned numbers are right in any order. */
struct pgk_alive {
    uint32_t objects;
    uint64_t bytes, start_ms;
};

/* Adds them to the block of the closed ones, in which nothing is known if there are none. Returns
 * their number, 0 if it makes no sense. Number and bytes are exact except for one object in flight
 * per thread. `end`, in ms, is the last event that the file has; sizes and lifetimes of single
 * objects are means. Their accesses are unknown: a context keeps those, and the mean densities, of
 * its closed objects, or has none if nothing was closed. */
uint64_t pgk_alive_add(const struct pgk_alive *alive, uint32_t end, struct pgk_mib *m);

#endif
