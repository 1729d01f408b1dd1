/* Threads of the program, their timers, and switching all of them on and off. */
#ifndef PGBR_THREAD_H
#define PGBR_THREAD_H

#include "recorder_engine.h"

#pragma GCC visibility push(hidden)

enum { PGBR_STATE_BYTES = 12 << 10, PGBR_CONTEXT_BYTES = 512, PGBR_CUT_MOST = 7 };

struct pgbr_thread {
    struct pgbr_thread *next;
    bool taken;  /* by a running thread */
    int number;  /* the kernel's */
    int timer;   /* of its processor time; -1: none */
    u64 random;
    u32 cut;     /* how often stretches ended early of late; above PGBR_CUT_MOST there is none */
    /* Where accesses are asked for (recorder_weight.c): its time, without that of the kernel, at
     * the last tick, if it has ticked; what windows have yet to stand for; and since the last tick,
     * the program's own time in windows, and what these cost. */
    bool ticked;
    u64 user_ns;
    i64 owed_ns;
    u64 native_ns, spent_ns;
    const volatile u64 *restartable; /* the kernel's word for restartable sequences, or NULL */
    struct pgbr_engine *engine;      /* that a fault has left to it */
    void *(*start)(void *);          /* of a thread to be: its function, perhaps of thrd_create */
    void *argument;
    u64 state_parts;                 /* of the state of vector registers, as for xsave */
    /* The state that the kernel restores when a window ends. */
    char context[PGBR_CONTEXT_BYTES] __attribute__((aligned(64)));
    char again[PGBR_CONTEXT_BYTES] __attribute__((aligned(64))); /* at the start of a window */
    char state[PGBR_STATE_BYTES] __attribute__((aligned(64)));
};

extern bool pgbr_on; /* ticks begin windows; perhaps for longer than was asked for, so: */
bool pgbr_is_on(void);
extern int pgbr_process; /* the number of the process whose memory this is */
extern volatile u32 pgbr_lock; /* of the counts and modules; with all signals blocked */

void pgbr_threads_init(void);
u64 pgbr_random(struct pgbr_thread *t);
/* The record that a timer's signal names, if it is one of the calling thread; else NULL. */
struct pgbr_thread *pgbr_thread_of(void *value);
bool pgbr_thread_is_known(const void *value); /* the record of any thread, also of one that ended */
void pgbr_threads_signal(void); /* their timers send pgbr_signal from now on */
extern u64 pgbr_mean_ns;        /* between two ticks of a thread */
void pgbr_arm(struct pgbr_thread *t); /* the next tick, after a random time */
void pgbr_switch(bool on);            /* from anywhere */
void pgbr_off_for_good(const char *why, const char *detail);
u64 pgbr_thread_ns(void); /* processor time of the calling thread */

/* recorder_window.c: */
u64 pgbr_mask_of(struct pgbr_thread *t); /* of signals, of the thread in a window */
void pgbr_on_tick(int sig, siginfo_t *info, void *context);

#pragma GCC visibility pop
#endif
