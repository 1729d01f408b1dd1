/* Totals as a profile of pprof, without names of functions. */
#ifndef PGRT_PPROF_H
#define PGRT_PPROF_H

#include "runtime_totals.h"

#pragma GCC visibility push(hidden)

struct pgrt_pprof; /* facts needed beforehand: they are the same for each pass */

/* NULL: no memory. The totals stay where they are until it is freed. */
struct pgrt_pprof *pgrt_pprof_new(const struct pgrt_totals *totals, bool allocs);
/* Calls back with the bytes, always the same ones. False as soon as `put` returns that, or without
 * memory. */
bool pgrt_pprof_write(struct pgrt_pprof *p, bool (*put)(void *arg, const void *bytes, size_t n),
                      void *arg);
void pgrt_pprof_free(struct pgrt_pprof *p);

#pragma GCC visibility pop
#endif
