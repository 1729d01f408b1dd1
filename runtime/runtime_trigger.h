/* Dumps that the program does not ask for: on signals, at intervals, by growth. */
#ifndef PGRT_TRIGGER_H
#define PGRT_TRIGGER_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

extern volatile u32 pgrt_dump_due; /* ms since the start; the first allocation from then on dumps */
void pgrt_triggers_init(void);
void pgrt_dump_if_due(void);
void pgrt_memory_grew(u32 regions); /* that have held objects so far */

#pragma GCC visibility pop
#endif
