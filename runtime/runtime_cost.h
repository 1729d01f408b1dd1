/* Measures the cost of recording: after one in so many objects of a context, at its begin and at
 * its end, the thread's next visit of the runtime is timed. */
#ifndef PGRT_COST_H
#define PGRT_COST_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

struct pgrt_thread;
struct pgrt_cost {
    u64 visit_began, visits, ticks; /* of those timed */
};
enum { PGRT_COST_EVERY = 256 };
/* Deferred (runtime_thread.h), the first one means that the next visit shall be timed, the second
 * one that this one is. */
extern char pgrt_cost_asked, pgrt_cost_timed;
void pgrt_cost_init(bool timed);  /* whether ticks may be read */
void pgrt_cost_stop_timing(void); /* before ticks cannot be read any more */
void pgrt_cost_forked(void);
void pgrt_cost_ask(struct pgrt_thread *t);
void pgrt_cost_visit_begins(struct pgrt_thread *t);
void pgrt_cost_visit_ends(struct pgrt_thread *t, u64 now); /* in ticks of the processor */
u64 pgrt_cost_ticks(void);        /* of now; 0 where nothing is timed */
void pgrt_cost_once_begins(void); /* something that happens once, or seldom */
void pgrt_cost_once_ends(void);
void pgrt_cost_dumped(u64 objects);
/* So far, with so many objects that are not in a dump yet; inside of something that happens once,
 * with the world stopped. 0: not known. */
u64 pgrt_cost_ns(u64 objects);
u64 pgrt_cost_bytes(void);

#pragma GCC visibility pop
#endif
