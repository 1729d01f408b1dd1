/* Threads: the record of each, who is inside the runtime, and stopping all at its door. */
#ifndef PGRT_THREAD_H
#define PGRT_THREAD_H

#include "guest_walk.h"
#include "runtime_cost.h"
#include "runtime_depot.h"
#include "runtime_series.h"
#include "runtime_sheets.h"
#include "runtime_table.h"

#pragma GCC visibility push(hidden)

enum { PGRT_INSIDE = 1, PGRT_ASKED = 2 };
/* The first fields are of runtime_thread.c, each part is of the file that its type names. What
 * every visit looks at comes first, so that it is in one line of the cache. */
struct pgrt_thread {
    u32 busy;                 /* PGRT_INSIDE: no thread may enter, and a dump waits */
    bool taken;               /* by a running thread */
    void *volatile deferred;  /* a list of objects that a signal handler freed while busy; then
                                 what is asked of the next visit */
    struct pgrt_thread *next; /* in the list of all, which only grows */
    const char *pointer;      /* of the thread: its variables are around it */
    u32 number;               /* the system's; 0: it was not asked under a filter of system calls */
    struct pgrt_sheets sheets;
    struct pgrt_series series;
    struct pgrt_cost cost;
    struct pgg_walker walker;
    struct pgrt_table table;
    struct pgrt_depot depot;
};
extern PGG_TLS struct pgrt_thread *pgrt_self;
extern struct pgrt_thread *pgrt_threads;

/* The state of the gate. The word is on a page that a fork wipes, so that a child of any kind finds
 * 0 and starts anew. */
enum {
    PGRT_GATE_NEW = 0,
    PGRT_GATE_OPEN = 1,
    PGRT_GATE_STOP = 2,
    PGRT_GATE_OFF = 3,
    PGRT_GATE_PAUSED = 4, /* new objects are not recorded, the ends of recorded ones are */
};
extern u32 *pgrt_gate;
extern u32 pgrt_gate_started; /* its state while no thread stops the others: open or paused */

extern u32 pgrt_generation; /* objects of another one belong to a parent or to an old dump */

/* This thread's record with busy set, or NULL: the caller works without it (pgrt_busy() says
 * whether this is because a signal handler interrupted the runtime). */
struct pgrt_thread *pgrt_enter_slow(u32 also);
bool pgrt_busy(void);
void pgrt_leave_slow(struct pgrt_thread *t);
bool pgrt_can_stop(void); /* not in a signal handler that interrupted the runtime */
void pgrt_stop_world(void);
void pgrt_start_world(void);
void pgrt_threads_init(void);
void pgrt_threads_after_fork(void);
void pgrt_pause(bool paused); /* with the world stopped: once it starts again */
/* A record for a helper (guest_helper.h), which allocates nothing: it is not among those of all
 * threads. False: no memory. */
bool pgrt_thread_of_helper(void);
/* The variable of the calling thread that is furthest from its thread pointer. */
const void *pgrt_thread_variables(void);
bool pgrt_threads_several(void); /* more than one thread of the process was here */
void pgrt_defer_free(struct pgrt_thread *t, void *object); /* until the thread leaves */

/* The records of all threads there have been. */
PGG_INLINE struct pgrt_thread *pgrt_threads_first(void)
{
    return __atomic_load_n(&pgrt_threads, __ATOMIC_ACQUIRE);
}

PGG_INLINE struct pgrt_thread *pgrt_threads_next(const struct pgrt_thread *t)
{
    return t->next;
}

/* To be seen when the thread leaves; false if something else is deferred already. */
PGG_INLINE bool pgrt_defer_only(struct pgrt_thread *t, void *what)
{
    void *none = NULL;
    return __atomic_compare_exchange_n(&t->deferred, &none, what, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

PGG_INLINE u32 pgrt_gate_now(void)
{
    return __atomic_load_n(pgrt_gate, __ATOMIC_ACQUIRE);
}

PGG_INLINE void pgrt_gate_set(u32 state)
{
    __atomic_store_n(pgrt_gate, state, __ATOMIC_RELEASE);
}

/* Makes everything that a thread did inside visible to threads that see it outside. */
PGG_INLINE void pgrt_busy_set(struct pgrt_thread *t, u32 inside)
{
    __atomic_store_n(&t->busy, inside, __ATOMIC_RELEASE);
}

PGG_INLINE u32 pgrt_busy_now(const struct pgrt_thread *t)
{
    return __atomic_load_n(&t->busy, __ATOMIC_ACQUIRE);
}

PGG_INLINE struct pgrt_thread *pgrt_enter_at(u32 also)
{
    struct pgrt_thread *t = pgrt_self;
    if (PGG_UNLIKELY(!t || pgrt_busy_now(t)))
        return pgrt_enter_slow(also);
    pgrt_busy_set(t, 1);
    pgg_compiler_barrier();
    if (PGG_UNLIKELY(pgrt_gate_now() != PGRT_GATE_OPEN)) {
        pgrt_busy_set(t, 0);
        return pgrt_enter_slow(also);
    }
    return t;
}

/* For an object that begins. */
PGG_INLINE struct pgrt_thread *pgrt_enter(void)
{
    return pgrt_enter_at(PGRT_GATE_OPEN);
}

/* For all else: also while recording is paused. */
PGG_INLINE struct pgrt_thread *pgrt_enter_paused(void)
{
    return pgrt_enter_at(PGRT_GATE_PAUSED);
}

PGG_INLINE void pgrt_leave(struct pgrt_thread *t)
{
    pgg_compiler_barrier();
    pgrt_busy_set(t, 0);
    pgg_compiler_barrier();
    if (PGG_UNLIKELY(t->deferred))
        pgrt_leave_slow(t);
}

#pragma GCC visibility pop
#endif
