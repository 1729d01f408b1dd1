/* An estimate of the cost of recording, for the user, that is itself nearly free.
 *
 * Now and then a thread asks for its next visit to be timed. The request is stored where a thread
 * looks anyway when it enters and leaves: in the word that says who is inside, and in the list of
 * what to do when leaving. The mean of the visits timed, times their number, is the time of all. */
#include "runtime_cost.h"

#include "guest_memory.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "runtime_alloc.h"
#include "runtime_shadow.h"
#include "runtime_store.h"
#include "runtime_thread.h"

#include <time.h>

enum {
    REGION_SHADOW = (1 << PGRT_REGION_SHIFT) / PGRT_GRANULE * 8,
};

char pgrt_cost_asked, pgrt_cost_timed;
static u64 began_ticks, began_ns; /* of the process */
static u64 ticks_of_visit;        /* at most; those that take longer were interrupted */
static u64 ticks_of_timing;       /* that timing adds to a visit */
static u64 objects_dumped;
static u64 once_ns;               /* of the start, and of dumps */
static u64 once_began;            /* when one of them began */
static bool timing;
static double ns_per_tick;        /* once timing has stopped */

static u64 clock_ns(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) ? 0 : (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/* Of the whole run so far. */
static double measured_ns_per_tick(void)
{
    const double ticks = (double)(pgg_ticks() - began_ticks);
    return ticks > 0 ? (double)(clock_ns(CLOCK_MONOTONIC) - began_ns) / ticks : 0;
}

void pgrt_cost_init(bool timed)
{
    once_began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    timing = timed;
    if (!timing)
        return;
    began_ticks = pgg_ticks();
    began_ns = clock_ns(CLOCK_MONOTONIC);
    ticks_of_visit = pgg_ticks_of_visit();
    ticks_of_timing = UINT64_MAX;
    for (int i = 0; i < 16; i++) {
        u64 ticks = pgg_ticks();
        ticks = pgg_ticks() - ticks;
        ticks_of_timing = ticks < ticks_of_timing ? ticks : ticks_of_timing;
    }
}

/* The clock that is in memory of the process reads ticks, too. */
void pgrt_cost_stop_timing(void)
{
    if (timing)
        ns_per_tick = measured_ns_per_tick();
    timing = false;
}

void pgrt_cost_once_begins(void)
{
    if (!pgg_confined)
        once_began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void pgrt_cost_once_ends(void)
{
    if (!pgg_confined)
        once_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - once_began;
}

/* A child's own costs begin with it. */
void pgrt_cost_forked(void)
{
    objects_dumped = once_ns = 0;
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = pgrt_threads_next(t))
        t->cost.visits = t->cost.ticks = 0;
    pgrt_cost_init(timing);
}

PGG_COLD void pgrt_cost_ask(struct pgrt_thread *t)
{
    if (timing)
        pgrt_defer_only(t, &pgrt_cost_asked);
}

void pgrt_cost_visit_begins(struct pgrt_thread *t)
{
    if (timing && pgrt_defer_only(t, &pgrt_cost_timed))
        t->cost.visit_began = pgg_ticks();
}

u64 pgrt_cost_ticks(void)
{
    return timing ? pgg_ticks() : 0;
}

void pgrt_cost_visit_ends(struct pgrt_thread *t, u64 now)
{
    u64 ticks = now - t->cost.visit_began;
    if (ticks >= ticks_of_visit)
        return;
    ticks -= ticks < ticks_of_timing ? ticks : ticks_of_timing;
    /* The thread is outside by now, so a dump may be looking. */
    __atomic_store_n(&t->cost.ticks, t->cost.ticks + ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&t->cost.visits, t->cost.visits + 1, __ATOMIC_RELAXED);
}

void pgrt_cost_dumped(u64 objects)
{
    objects_dumped += objects;
}

u64 pgrt_cost_ns(u64 objects)
{
    u64 timed_visits = 0, timed_ticks = 0;
    if (pgg_confined)
        return 0;
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = pgrt_threads_next(t)) {
        timed_visits += __atomic_load_n(&t->cost.visits, __ATOMIC_RELAXED);
        timed_ticks += __atomic_load_n(&t->cost.ticks, __ATOMIC_RELAXED);
    }
    const u64 once = once_ns + clock_ns(CLOCK_THREAD_CPUTIME_ID) - once_began;
    const double ratio = timing ? measured_ns_per_tick() : ns_per_tick,
                 visits = 2 * (double)(objects_dumped + objects); /* they come, and they go */
    if (!timed_visits || ratio <= 0)
        return timing ? once : 0;
    const double each = (double)timed_ticks / (double)timed_visits * ratio;
    const u64 all = once + (u64)(each * visits), most = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    return all < most ? all : most;
}

/* Counters in memory, tables, and the mapped file. */
u64 pgrt_cost_bytes(void)
{
    unsigned char in_core[REGION_SHADOW / PGG_PAGE];
    u64 bytes = pgg_mapped_bytes + pgrt_store_bytes();
    const size_t page = pgg_page();
    if (pgg_confined)
        return 0;
    for (u32 i = 0; i < pgrt_region_count && i < PGRT_REGIONS_MAX; i++) {
        const u64 *shadow = pgrt_shadow((uintptr_t)pgrt_region_list[i] << PGRT_REGION_SHIFT);
        if (pgg_sys_in_core(shadow, REGION_SHADOW, in_core) < 0)
            continue;
        for (size_t at = 0; at < REGION_SHADOW / page; at++)
            bytes += in_core[at] & 1 ? page : 0;
    }
    return bytes;
}
