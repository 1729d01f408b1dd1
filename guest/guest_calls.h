/* System calls of the program that the recorder makes in its place. */
#ifndef PGG_CALLS_H
#define PGG_CALLS_H

#include "guest.h"

struct pgg_call {
    long number, arguments[6];
};

/* Whether it waits for nobody and changes no code: of memory without code, and of regular files. */
bool pgg_call_is_quick(const struct pgg_call *call);
/* Signals that a thread with this mask would get are blocked and wait; bit 0 is signal 1. */
bool pgg_call_signals_wait(u64 mask);
/* As the kernel returns: a negative number of errno for a failure. */
long pgg_call_make(const struct pgg_call *call);

#endif
