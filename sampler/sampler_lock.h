/* The lock of all that threads share: samples are rare, so that there is one. */
#ifndef PGSM_LOCK_H
#define PGSM_LOCK_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

void pgsm_lock_init(void); /* once, before there are threads */
/* By a thread that is not busy, which is busy until it unlocks. In the child of a fork the first
 * one finds nothing that was made. */
void pgsm_lock(void);
void pgsm_unlock(void);
/* Of fork: nobody else is at work meanwhile. */
void pgsm_lock_before_fork(void);
void pgsm_lock_after_fork(void); /* in the parent, and in the child */

#pragma GCC visibility pop
#endif
