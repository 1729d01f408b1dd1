/* Threads: who is inside the runtime, stopping all at its door, and fork. */
#include "runtime_thread.h"

#include "guest_memory.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "runtime_alloc.h"
#include "runtime_confine.h"
#include "runtime_start.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

PGG_TLS struct pgrt_thread *pgrt_self;
struct pgrt_thread *pgrt_threads;
u32 pgrt_generation;

/* Closed until pgrt_threads_init gives it a page of its own. */
static u32 no_gate;
u32 *pgrt_gate = &no_gate;

static PGG_TLS bool making; /* the thread's record */
static pthread_key_t key;
static bool key_made;
static bool barrier_made;
static u32 made;             /* records for threads of this process */
static volatile u32 stopper; /* a thread that stops the others: one at a time */
static struct pgrt_thread *of_helper;
u32 pgrt_gate_started = PGRT_GATE_OPEN;

static void give_back(void *record)
{
    struct pgrt_thread *t = record;
    if (pgrt_self != t)
        return;
    pgrt_self = NULL;
    __atomic_store_n(&t->taken, false, __ATOMIC_RELEASE);
}

static struct pgrt_thread *take_record(void)
{
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = t->next)
        if (!__atomic_load_n(&t->taken, __ATOMIC_RELAXED) &&
            !__atomic_exchange_n(&t->taken, true, __ATOMIC_ACQ_REL))
            return t;
    struct pgrt_thread *t = pgg_map(pgg_whole_pages(sizeof *t));
    if (!t)
        return NULL;
    t->taken = true;
    t->next = __atomic_load_n(&pgrt_threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&pgrt_threads, &t->next, t, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    return t;
}

/* The C library may allocate in here; `making` sends that to the spare memory. */
static struct pgrt_thread *make_self(void)
{
    making = true;
    struct pgrt_thread *t = take_record();
    if (t) {
        pgrt_busy_set(t, 1);
        t->deferred = NULL;
        t->pointer = pgg_thread_pointer();
        t->number = pgg_confined ? 0 : (u32)pgg_sys_thread();
        pgg_walker_init(&t->walker);
        pgrt_depot_init(&t->depot);
        if (key_made)
            pthread_setspecific(key, t);
        pgrt_self = t;
        __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
        pgrt_busy_set(t, 0);
    }
    making = false;
    return t;
}

bool pgrt_threads_several(void)
{
    return __atomic_load_n(&made, __ATOMIC_RELAXED) > 1;
}

bool pgrt_busy(void)
{
    return making || (pgrt_self && pgrt_busy_now(pgrt_self) & PGRT_INSIDE);
}

/* `also` is a state of the gate that lets this visit in besides PGRT_GATE_OPEN. */
PGG_COLD struct pgrt_thread *pgrt_enter_slow(u32 also)
{
    if (pgrt_busy())
        return NULL;
    for (;;) {
        const u32 gate = pgrt_gate_now();
        if (gate == PGRT_GATE_PAUSED && also != gate)
            return NULL;
        switch (gate) {
        case PGRT_GATE_NEW:
            if (pgrt_gate == &no_gate)
                pgrt_init();
            else
                pgrt_child_init();
            if (pgrt_gate_now() == PGRT_GATE_NEW)
                return NULL;
            break;
        case PGRT_GATE_OFF:
            return NULL;
        case PGRT_GATE_STOP:
            pgg_sys_yield();
            break;
        default: {
            struct pgrt_thread *t = pgrt_self ? pgrt_self : make_self();
            const bool asked = t && pgrt_busy_now(t) & PGRT_ASKED;
            if (!t) {
                pgrt_off("recording stops", pgg_errno_name(-ENOMEM));
                return NULL;
            }
            pgrt_busy_set(t, PGRT_INSIDE);
            pgg_compiler_barrier();
            if (pgrt_gate_now() == PGRT_GATE_OPEN || pgrt_gate_now() == also) {
                if (asked)
                    pgrt_cost_visit_begins(t);
                return t;
            }
            pgrt_busy_set(t, 0);
        }
        }
    }
}

/* Frees the objects that a signal handler freed while this thread was inside; and times this visit,
 * or requests this for the next one. */
PGG_COLD void pgrt_leave_slow(struct pgrt_thread *t)
{
    const u64 now = pgrt_cost_ticks(); /* before it waits for the stores of this visit */
    void *list = __atomic_exchange_n(&t->deferred, NULL, __ATOMIC_ACQ_REL);
    while (list) {
        if (list == &pgrt_cost_asked || list == &pgrt_cost_timed) {
            if (list == &pgrt_cost_timed)
                pgrt_cost_visit_ends(t, now);
            else
                pgrt_busy_set(t, PGRT_ASKED);
            return;
        }
        void *next = *(void **)list;
        pgrt_busy_set(t, 1);
        pgg_compiler_barrier();
        pgrt_free_now(t, list);
        pgg_compiler_barrier();
        pgrt_busy_set(t, 0);
        list = next;
    }
}

void pgrt_defer_free(struct pgrt_thread *t, void *object)
{
    void *list = t->deferred;
    do
        *(void **)object = list;
    while (!__atomic_compare_exchange_n(&t->deferred, &list, object, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
}

static void barrier(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (pgg_confined) {
        /* The stores of a processor do not stay with it for longer than this takes, though no
         * processor promises a time. */
        for (int i = 0; i < 10000; i++)
            pgg_pause();
        return;
    }
    if (!barrier_made || pgg_sys_barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) < 0) {
        /* The slow method to see every thread's last store: run once on each processor. */
        pgg_sys_barrier(MEMBARRIER_CMD_GLOBAL);
    }
}

bool pgrt_can_stop(void)
{
    if (pgrt_busy())
        return false;
    struct pgrt_thread *t = pgrt_enter_paused();
    if (!t)
        return false;
    pgrt_leave(t);
    return true;
}

/* Afterwards no other thread is inside the runtime, and none comes in. This one is, so that a
 * signal handler that interrupts it neither waits for it nor comes here. */
void pgrt_stop_world(void)
{
    pgrt_busy_set(pgrt_self, 1);
    while (__atomic_exchange_n(&stopper, 1, __ATOMIC_ACQUIRE)) {
        pgrt_busy_set(pgrt_self, 0); /* somebody else waits for this thread */
        pgg_sys_yield();
        pgrt_busy_set(pgrt_self, 1);
    }
    __atomic_store_n(pgrt_gate, PGRT_GATE_STOP, __ATOMIC_SEQ_CST);
    pgrt_confine_ask();
    barrier();
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = t->next)
        while (t != pgrt_self && __atomic_load_n(&t->taken, __ATOMIC_ACQUIRE) &&
               pgrt_busy_now(t) & PGRT_INSIDE)
            pgg_sys_yield();
}

void pgrt_start_world(void)
{
    u32 stopped = PGRT_GATE_STOP;
    __atomic_compare_exchange_n(pgrt_gate, &stopped, pgrt_gate_started, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    __atomic_store_n(&stopper, 0, __ATOMIC_RELEASE);
    pgrt_leave(pgrt_self);
}

void pgrt_pause(bool paused)
{
    pgrt_gate_started = paused ? PGRT_GATE_PAUSED : PGRT_GATE_OPEN;
}

bool pgrt_thread_of_helper(void)
{
    const size_t bytes = pgg_whole_pages(sizeof *of_helper);
    if (!of_helper && !(of_helper = pgg_map(bytes)))
        return false;
    pgg_sys_advise(of_helper, bytes, MADV_DONTFORK);
    pgrt_self = of_helper;
    return true;
}

const void *pgrt_thread_variables(void)
{
    const char *const words[] = {(const char *)&pgrt_self, (const char *)&making,
                                 pgg_thread_pointer() + pgrt_cpu_at};
    const char *furthest = words[0];
    for (u32 i = 1; i < sizeof words / sizeof *words; i++)
        if ((words[i] > furthest) == PGG_VARIABLES_ABOVE)
            furthest = words[i];
    return furthest;
}

static void child(void)
{
    pgrt_gate_set(PGRT_GATE_NEW);
}

int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *)
    __attribute__((weak));

void pgrt_threads_init(void)
{
    making = true;
    key_made = pthread_key_create(&key, give_back) == 0;
    barrier_made = pgg_sys_barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    u32 *page = pgg_map(PGG_PAGE);
    if (page) {
        /* Every kind of fork empties the page; where the kernel cannot, fork() itself does. */
        if (pgg_sys_advise(page, PGG_PAGE, MADV_WIPEONFORK) < 0 && __register_atfork)
            __register_atfork(NULL, NULL, child, NULL);
        *page = pgrt_gate_now();
        pgrt_gate = page;
    }
    making = false;
}

/* Only the forking thread lives on; what the others had belongs to the parent. */
void pgrt_threads_after_fork(void)
{
    stopper = 0;
    of_helper = NULL;
    made = pgrt_self ? 1 : 0;
    for (struct pgrt_thread *t = pgrt_threads; t; t = t->next) {
        pgrt_table_clear(t);
        pgrt_busy_set(t, 0);
        t->deferred = NULL;
        t->taken = t == pgrt_self;
        if (t->taken)
            t->number = pgg_confined ? 0 : (u32)pgg_sys_thread();
    }
}
