/* Which calls of a module a call stack is at. A call is known by a chain of places: its own, then
 * those of the calls that it is inlined through; a stack is at the call if it begins with them. The
 * chains are sorted: the calls of a stack are found by binary search for each frame, and the time
 * does not grow with the number of calls times the number of stacks. */
#ifndef PGC_USE_CHAIN_H
#define PGC_USE_CHAIN_H

#include "use_place.h"

struct pgc_chain {
    struct pgc_place *places;
    size_t n, number; /* number: of the call, in the order of adding */
};
struct pgc_chains {
    bool columns; /* places differ by columns, too */
    bool exact;   /* a call without a line is nowhere else */
    struct pgc_chain *all;
    size_t n, capacity;
};

/* Adds a call. The places are copied. */
void pgc_chains_add(struct pgc_chains *chains, const struct pgc_place *places, size_t n);
/* To be called once, after all are added: calls at the same chain become one. Fills where in `all`
 * the chain of each call is. */
void pgc_chains_sort(struct pgc_chains *chains, size_t *positions);
void pgc_chains_close(struct pgc_chains *chains);

typedef void pgc_chain_found(void *arg, size_t position);
/* Finds each chain that the frames begin with, but for that of no places. */
void pgc_chains_find(const struct pgc_chains *chains, const struct pgc_frame *frames, size_t n,
                     pgc_chain_found *found, void *arg);
/* Does the frame begin a chain? */
bool pgc_chains_begin(const struct pgc_chains *chains, const struct pgc_frame *frame);
/* How many frames have the line and the column of the chain, which they begin with. */
size_t pgc_chain_exact(const struct pgc_chain *chain, const struct pgc_frame *frames);

#endif
