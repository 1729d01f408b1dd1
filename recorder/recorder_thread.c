/* Threads of the program, and their timers. */
#include "recorder_thread.h"

#include "guest_env.h"
#include "guest_memory.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "recorder_modules.h"
#include "recorder_options.h"
#include "recorder_perf.h"
#include "recorder_real.h"
#include "recorder_signals.h"
#include "recorder_table.h"

#include <linux/rseq.h>
#include <pthread.h>
#include <sys/mman.h>
#include <threads.h>

bool pgbr_on;
int pgbr_process;
volatile u32 pgbr_lock;
u64 pgbr_mean_ns = 1000000000;

static struct pgbr_thread *threads;
static PGG_TLS struct pgbr_thread *self;
static pthread_key_t key;
static bool key_made, off_for_good;
static u32 *alive; /* 0 in a child until it has been set up: every kind of fork empties it */
static u64 deadline_ns;

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static u64 clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    pgg_sys_clock(clock, &now);
    return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

u64 pgbr_thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* No thread may have ticked since the time was over. */
bool pgbr_is_on(void)
{
    if (pgbr_on && deadline_ns && clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
        pgbr_on = false;
    return pgbr_on;
}

/* ---- timers ---- */

u64 pgbr_random(struct pgbr_thread *t)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return t->random;
}

static void arm(struct pgbr_thread *t, u64 after_ns)
{
    if (!pgbr_is_on())
        return;
    if (t->timer < 0)
        t->timer = (int)pgg_sys_timer_new(t->number, pgbr_options.real_time,
                                          pgbr_signal, t);
    if (t->timer >= 0)
        pgg_sys_timer_set(t->timer, after_ns);
}

/* Between half and one and a half of the mean time, so that nothing periodic is always met at the
 * same place. */
void pgbr_arm(struct pgbr_thread *t)
{
    arm(t, pgbr_mean_ns / 2 + pgbr_random(t) % pgbr_mean_ns);
}

/* The time to the next tick, seen from any moment: half of these moments are at least half a mean
 * time before it. So a thread of a fraction of the mean time ticks in this fraction of cases. */
static void arm_first(struct pgbr_thread *t)
{
    const u64 mean = pgbr_mean_ns, one = pgbr_random(t) % mean, other = pgbr_random(t) % mean,
              later = mean + mean / 2 - (one > other ? one : other);
    t->ticked = false;
    t->owed_ns = 0;
    arm(t, 1 + (pgbr_random(t) & 1 << 20 ? one / 2 : later));
}

static void drop_timer(struct pgbr_thread *t)
{
    const int timer = t->timer;
    t->timer = -1;
    if (timer >= 0)
        pgg_sys_timer_delete(timer);
}

void pgbr_switch(bool on)
{
    if (off_for_good || on == pgbr_is_on())
        return;
    if (!on) {
        pgbr_on = false;
        return;
    }
    pgbr_signals_install();
    deadline_ns = pgbr_options.seconds
                      ? clock_ns(CLOCK_MONOTONIC) + pgbr_options.seconds * 1000000000
                      : 0;
    pgbr_on = true;
    for (struct pgbr_thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); t; t = t->next)
        if (__atomic_load_n(&t->taken, __ATOMIC_ACQUIRE) && t->number)
            arm_first(t);
}

void pgbr_off_for_good(const char *why, const char *detail)
{
    if (off_for_good)
        return;
    off_for_good = true;
    if (pgbr_on)
        pgbr_say(why, detail);
    pgbr_on = false;
    for (struct pgbr_thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); t; t = t->next)
        drop_timer(t);
}

void pgbr_threads_signal(void)
{
    for (struct pgbr_thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); t; t = t->next)
        if (__atomic_load_n(&t->taken, __ATOMIC_ACQUIRE) && t->number) {
            drop_timer(t);
            pgbr_arm(t);
        }
}

/* ---- records ---- */

static struct pgbr_thread *take_record(void)
{
    for (struct pgbr_thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); t; t = t->next)
        if (!__atomic_load_n(&t->taken, __ATOMIC_RELAXED) &&
            !__atomic_exchange_n(&t->taken, true, __ATOMIC_ACQ_REL))
            return t;
    struct pgbr_thread *t = pgg_map(pgg_whole_pages(sizeof *t));
    if (!t)
        return NULL;
    t->taken = true;
    t->timer = -1;
    t->next = __atomic_load_n(&threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&threads, &t->next, t, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    return t;
}

static void give_back(void *record)
{
    struct pgbr_thread *t = record;
    if (self != t)
        return;
    t->number = 0; /* a tick that comes now does nothing */
    drop_timer(t);
    if (t->engine)
        pgbr_engine_free(t->engine);
    t->engine = NULL;
    self = NULL;
    __atomic_store_n(&t->taken, false, __ATOMIC_RELEASE);
}

/* By the thread itself. */
static void begin(struct pgbr_thread *t)
{
    t->timer = -1;
    t->number = pgg_sys_thread();
    t->random = ((clock_ns(CLOCK_MONOTONIC) ^ (u64)t->number) * UINT64_C(0x9e3779b97f4a7c15)) | 1;
    t->cut = PGBR_CUT_MOST;
    t->restartable = NULL;
    if (&__rseq_size && __rseq_size)
        t->restartable = (const volatile u64 *)(const void *)(
            pgg_thread_pointer() + __rseq_offset + offsetof(struct rseq, rseq_cs));
    self = t;
    if (key_made)
        pthread_setspecific(key, t);
    arm_first(t);
}

bool pgbr_thread_is_known(const void *value)
{
    const struct pgbr_thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
    while (t && t != value)
        t = t->next;
    return t;
}

struct pgbr_thread *pgbr_thread_of(void *value)
{
    struct pgbr_thread *t = value;
    return pgbr_thread_is_known(t) && *alive && t->number == pgg_sys_thread() ? t : NULL;
}

/* Timers, engines and the file's mapping are not inherited. */
static void child(void)
{
    if (!alive || *alive)
        return;
    pgbr_process = pgg_sys_process();
    pgbr_lock = 0;
    pgbr_engines_forked();
    pgbr_table_forked();
    pgbr_perf_forked();
    pgbr_modules_forked();
    for (struct pgbr_thread *t = threads; t; t = t->next) {
        t->timer = -1;
        t->engine = NULL;
        t->taken = t == self;
        t->number = 0;
    }
    *alive = 1;
    if (self)
        begin(self);
}

int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);

static void record_nothing(const char *why)
{
    off_for_good = true;
    pgbr_say("recording nothing", why);
}

void pgbr_threads_init(void)
{
    if (pgg_has_more_rights()) { /* through which no program may be made to write files */
        record_nothing("the program has rights that who started it does not have");
        return;
    }
    u32 *page = pgg_map(PGG_PAGE);
    pgbr_process = pgg_sys_process();
    if (!page || pgg_sys_advise(page, PGG_PAGE, MADV_WIPEONFORK) < 0 ||
        __register_atfork(NULL, NULL, child, NULL)) {
        record_nothing("the system cannot tell a child from its parent");
        return;
    }
    alive = page;
    *alive = 1;
    key_made = pthread_key_create(&key, give_back) == 0;
    struct pgbr_thread *t = take_record();
    if (t)
        begin(t);
}

/* ---- threads to come ---- */

PGBR_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                               void *(*start)(void *), void *argument);
PGBR_EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *argument);

static struct pgbr_thread *prepare(void *(*start)(void *), void *argument)
{
    struct pgbr_thread *t = alive && *alive && !off_for_good ? take_record() : NULL;
    if (t) {
        t->number = 0;
        t->start = start;
        t->argument = argument;
    }
    return t;
}

static void dismiss(struct pgbr_thread *t)
{
    __atomic_store_n(&t->taken, false, __ATOMIC_RELEASE);
}

static void *run_thread(void *record)
{
    struct pgbr_thread *t = record;
    void *argument = t->argument;
    void *(*start)(void *) = t->start;
    begin(t);
    return start(argument);
}

static int run_thrd(void *record)
{
    struct pgbr_thread *t = record;
    void *argument = t->argument;
    thrd_start_t start = (thrd_start_t)(void (*)(void))t->start;
    begin(t);
    return start(argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    struct pgbr_thread *t = prepare(start, argument);
    if (!t)
        return pgbr_real()->pthread_create(thread, attributes, start, argument);
    const int err = pgbr_real()->pthread_create(thread, attributes, run_thread, t);
    if (err)
        dismiss(t);
    return err;
}

int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    struct pgbr_thread *t = prepare((void *(*)(void *))(void (*)(void))start, argument);
    if (!t)
        return pgbr_real()->thrd_create(thread, start, argument);
    const int err = pgbr_real()->thrd_create(thread, run_thrd, t);
    if (err != thrd_success)
        dismiss(t);
    return err;
}
