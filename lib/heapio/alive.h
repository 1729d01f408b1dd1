/* Objects that were alive when a process was killed. docs/formats/interrupted-heap.md */
#ifndef PGK_ALIVE_H
#define PGK_ALIVE_H

#include "mib.h"

/* Of a context, the objects begun in sheets less those closed there: what was alive in the end.
 * Differences of unsigned numbers come out right whatever the order. */
struct pgk_alive {
    uint32_t objects;
    uint64_t bytes, start_ms;
};

/* Adds them to the block of the closed ones, in which nothing is known if there are none; their
 * number, 0 if it makes no sense. Number and bytes are exact but for one object in flight per
 * thread. `end`, in ms, is the last event that the file knows of; sizes and lifetimes of single
 * ones are means. Their accesses nobody knows: those of a context are of its closed objects, from
 * which it keeps its mean densities, or unknown if there are none. */
uint64_t pgk_alive_add(const struct pgk_alive *alive, uint32_t end, struct pgk_mib *m);

#endif
