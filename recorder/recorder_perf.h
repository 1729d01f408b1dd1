/* Windows as samples of perf, in a file of its own next to the recording. */
#ifndef PGBR_PERF_H
#define PGBR_PERF_H

#include "recorder_engine.h"

#pragma GCC visibility push(hidden)

/* Adds the branches of a window whose code is loaded and named. For one thread at a time. */
void pgbr_perf_add(const struct pgbr_engine *x);
void pgbr_perf_drop(void);   /* the file is removed, and none made again */
void pgbr_perf_forked(void); /* the parent's file is left */

#pragma GCC visibility pop
#endif
