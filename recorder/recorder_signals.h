/* Signals. Faults of the program may happen in the engine's copies of its code: the recorder's
 * handler puts the thread back to where it would be without it, where it faults again, and only
 * then calls the program's handler. So the program's handlers, and dumps of its memory, never see
 * anything of the recorder. The program's settings are kept here and returned when it asks. */
#ifndef PGBR_SIGNALS_H
#define PGBR_SIGNALS_H

#include "pgbr.h"

#pragma GCC visibility push(hidden)

extern int pgbr_signal; /* that the recorder sends to threads; the program may take it away */
void pgbr_signals_install(void); /* once; from anywhere */
void pgbr_signals_switch(void);  /* the signal that switches on and off, if there is one */
/* False: a fault would call a handler that was set up without the recorder. */
bool pgbr_signals_known(void);
/* The signals that faults send, bit 0 being signal 1. */
extern const u64 pgbr_fault_signals;

#pragma GCC visibility pop
#endif
