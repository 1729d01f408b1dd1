/* Start, fork, exec and end. */
#ifndef PGSM_START_H
#define PGSM_START_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

extern int pgsm_process; /* its number; 0: it has not started */
/* With the lock, in a child that was found to be one: it starts anew. */
void pgsm_forked(void);
/* Nothing is sampled from now on; says so in a line, once, unless `why` is NULL. */
void pgsm_stop(const char *why, const char *detail);

#pragma GCC visibility pop
#endif
