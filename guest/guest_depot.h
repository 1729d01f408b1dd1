/* Call stacks: the depot that gives each distinct one a number, its context. */
#ifndef PGG_DEPOT_H
#define PGG_DEPOT_H

#include "guest.h"
#include "guest_walk.h"

#pragma GCC visibility push(hidden)

enum { PGG_DEPTH_MAX = 255, PGG_CONTEXTS_MAX = 1 << 22 };
struct pgg_context {
    u32 frame : 31;       /* the innermost one */
    u32 cut : 1;          /* the stack has more frames */
    u32 n : 8, next : 24; /* frames */
};
_Static_assert(PGG_DEPTH_MAX < 1 << 8 && PGG_CONTEXTS_MAX <= 1 << 24, "they fit");

/* Number of the stack that a walk from `frame` found, without the frames of our own code; 0 when
 * there are too many. `pcs` has space for PGG_DEPTH_MAX addresses and is overwritten. *found is
 * that of a walk that was done again if another library lies where one was. */
u32 pgg_context_of_walk(struct pgg_walker *w, const void *frame, struct pgg_stack_found *found,
                        u64 *pcs);
const struct pgg_context *pgg_context(u32 id);
/* The first n of its code addresses: return addresses minus one, innermost first. */
void pgg_context_pcs(const struct pgg_context *c, u64 *pcs, u32 n);
u32 pgg_contexts(void); /* ids below this one may be in use */

#pragma GCC visibility pop
#endif
