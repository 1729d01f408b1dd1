/* The profile: all that is known up to now, as one standard raw dump. */
#ifndef PGSM_DUMP_H
#define PGSM_DUMP_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

/* Writes it in place of the one before; `last`: nothing is recorded any more; `empty`: even without
 * samples. By a thread that is not busy. */
int pgsm_dump(bool last, bool empty);
void pgsm_dump_soon(void);  /* at the next sample; from a signal handler, too */
void pgsm_dump_begin(void); /* the options are known: the first one is due then */
void pgsm_dump_if_due(void);

#pragma GCC visibility pop
#endif
