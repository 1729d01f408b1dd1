/* Which objects no pointer leads to: leaks. Any word that is an address inside an object is taken
 * for a pointer to it, so what is said to be unreachable is, and of what is not some may be a leak,
 * too. Sources: the leak checks of LeakSanitizer, whose roots these are, and of valgrind's
 * memcheck. */
#ifndef PGRT_REACH_H
#define PGRT_REACH_H

#include "runtime_object.h"

#pragma GCC visibility push(hidden)

/* Notes where the variables of all modules are, for the calling thread, and its stack from the
 * caller on, which has all registers on it. Takes the dynamic linker's lock, so the world runs. */
void pgrt_reach_prepare(void);
/* Calls back with the header of each object of this process that no pointer leads to, of those that
 * have a context. With the world stopped; other threads may run outside of the runtime. 0, or a
 * negative error number: nothing was called back. */
int pgrt_reach_each_lost(void (*f)(void *arg, const struct pgrt_header *h), void *arg);

#pragma GCC visibility pop
#endif
