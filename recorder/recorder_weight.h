/* The cost of windows, and what each stands for where pgbr_accesses asks for it. */
#ifndef PGBR_WEIGHT_H
#define PGBR_WEIGHT_H

#include "recorder_thread.h"

#pragma GCC visibility push(hidden)

/* So many ticks a second at most, and fewer if windows take more than their budget, thousandths of
 * the processor time; 0: they may take what they take. */
void pgbr_weights_init(u64 frequency, u64 budget_permille);
/* In this order, by the thread: at a tick, after a stretch, before and after a window, at the end.
 * Elapsed times are processor time of the thread since the tick. */
void pgbr_ticked(struct pgbr_thread *t);
void pgbr_stretched(struct pgbr_engine *x, u64 elapsed_ns);
void pgbr_weigh(struct pgbr_engine *x, struct pgbr_thread *t, const struct pgbr_engine *stretch);
void pgbr_weighed_window_ends(struct pgbr_engine *x);
void pgbr_tick_done(struct pgbr_thread *t, u64 elapsed_ns);

#pragma GCC visibility pop
#endif
