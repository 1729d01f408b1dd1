/* The functions by which a process takes rights away from itself, in place of the C library's. */
#ifndef PGG_CONFINE_H
#define PGG_CONFINE_H

#include "guest.h"

#pragma GCC visibility push(hidden)

/* From now on a room is notified before the process gives up a right (PGG_LESS_...). pgg_confined
 * is set when it has done so. */
void pgg_confine_watch(void (*before)(u32 takes));

#pragma GCC visibility pop
#endif
