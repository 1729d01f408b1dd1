/* What windows cost, and how often they may begin for that; and what they stand for, for a library
 * that asks for accesses. docs/design/recorder.md, "What a window stands for". */
#include "recorder_weight.h"

#include "guest_processor.h"
#include "guest_sys.h"
#include "recorder_access.h"
#include "recorder_counting.h"
#include "recorder_take.h"

enum {
    TICK_NS = 4000,         /* that the kernel takes for a signal of a timer, about */
    FIRST_COST_NS = 300000, /* of a window, as long as none is known */
    MOST_NS = 1000000000,   /* between two ticks of a thread */
    AVERAGED = 16,          /* windows */
};

static u64 cost_ns, average_ns = FIRST_COST_NS;
static u64 first_cycles, first_ns;
static u64 budget; /* thousandths; 0: windows may cost what they cost */
static u64 least_ns;

static u64 real_ns(void)
{
    struct timespec now = {0};
    pgg_sys_clock(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/* Cycles of the time stamp, which does not change its speed. */
static double cycles_of_ns(void)
{
    const u64 ns = real_ns() - first_ns, cycles = pgg_ticks() - first_cycles;
    return ns ? (double)cycles / (double)ns : 1;
}

static void adapt(void)
{
    const u64 wished = budget ? __atomic_load_n(&average_ns, __ATOMIC_RELAXED) * 1000 / budget : 0,
              most = least_ns < MOST_NS ? MOST_NS : least_ns;
    pgbr_mean_ns = wished < least_ns ? least_ns : wished < most ? wished : most;
}

void pgbr_weights_init(u64 frequency, u64 budget_permille)
{
    first_ns = real_ns();
    first_cycles = pgg_ticks();
    budget = budget_permille;
    least_ns = 1000000000 / frequency;
    adapt();
}

u64 pgbr_cost_ns(void)
{
    return __atomic_load_n(&cost_ns, __ATOMIC_RELAXED);
}

/* The time of the program since the last tick, windows included but for what they cost. The first
 * tick of a thread comes after a time that is drawn as if it had run before, and so stands for a
 * mean time, however long the thread may live. */
void pgbr_ticked(struct pgbr_thread *t)
{
    const u64 now = pgg_sys_user_ns(), passed = now - t->user_ns;
    t->owed_ns += t->ticked ? (i64)passed - (i64)t->spent_ns : (i64)pgbr_mean_ns;
    t->ticked = true;
    t->user_ns = now;
    t->spent_ns = t->native_ns = 0;
}

/* After a stretch; `elapsed`: of the thread's processor time, since the tick. */
void pgbr_stretched(struct pgbr_engine *x, u64 elapsed_ns)
{
    const u64 added = (u64)((double)pgbr_added_cycles(x) / cycles_of_ns());
    x->thread->native_ns = elapsed_ns > added ? elapsed_ns - added : 0;
}

static void deliver(struct pgbr_engine *x)
{
    x->weight.pending = false;
    pgbr_accesses.window_ended(x->number, x->weight.each);
}

/* Before a window of so many branches, after a stretch, or at once: then it is not known how long
 * branches take here. */
void pgbr_weigh(struct pgbr_engine *x, struct pgbr_thread *t, const struct pgbr_engine *stretch)
{
    if (x->weight.pending) /* a fault ended it */
        deliver(x);
    const u64 native =
        stretch ? pgbr_native_cycles(stretch, x->limit) : x->limit * PGBR_CYCLES_OF_A_BRANCH;
    const double owed = t->owed_ns > 0 ? (double)t->owed_ns * cycles_of_ns() : 0;
    x->weight = (struct pgbr_weight){
        .owed_ns = t->owed_ns > 0 ? (u64)t->owed_ns : 0,
        .native_cycles = native,
        .each = (u64)(owed * (1 << PGBR_WEIGHT_PLACES) / (double)native),
        .pending = true,
    };
    t->owed_ns -= (i64)x->weight.owed_ns;
}

/* What an early end has left out is the next window's. */
static void owe_rest(struct pgbr_engine *x)
{
    const struct pgbr_weight *w = &x->weight;
    x->thread->owed_ns += (i64)(w->owed_ns * (x->limit - x->n) / x->limit);
    x->thread->native_ns += (u64)((double)(w->native_cycles * x->n / x->limit) / cycles_of_ns());
}

void pgbr_weighed_window_ends(struct pgbr_engine *x)
{
    owe_rest(x);
    deliver(x);
}

void pgbr_tick_done(struct pgbr_thread *t, u64 elapsed_ns)
{
    t->spent_ns = elapsed_ns > t->native_ns ? elapsed_ns - t->native_ns : 0;
    __atomic_fetch_add(&cost_ns, t->spent_ns + TICK_NS, __ATOMIC_RELAXED);
    const u64 before = __atomic_load_n(&average_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&average_ns, before - before / AVERAGED + (t->spent_ns + TICK_NS) / AVERAGED,
                     __ATOMIC_RELAXED);
    adapt();
}
