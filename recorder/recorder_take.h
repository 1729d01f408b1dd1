/* Between the dispatcher and the library that asks for accesses. */
#ifndef PGBR_TAKE_H
#define PGBR_TAKE_H

#include "recorder_access.h"
#include "recorder_engine.h"

#pragma GCC visibility push(hidden)

/* recorder_access.c: accesses of a block that has run, and of a branch that loaded its target. */
void pgbr_take_block(const struct pgbr_engine *x, const struct pgbr_block *b);
void pgbr_take_load(const struct pgbr_engine *x, u64 addr);

#pragma GCC visibility pop
#endif
