/* Waiting for another thread that is about to be done. */
#ifndef PGK_SPIN_H
#define PGK_SPIN_H

#include <sched.h>

/* One turn of the wait; `turns` starts at 0. A thread that lost its processor in the middle needs
 * it back first. */
static inline void pgk_spin(unsigned *turns)
{
    enum { PATIENCE = 64 };
    if (++*turns > PATIENCE)
        sched_yield();
}

#endif
