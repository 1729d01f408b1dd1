/* Tests of the job pool. */
#include "pgk_test.h"

#include "mem.h"
#include "pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { JOBS = 5000, THREADS = 16 };

struct board {
    unsigned threads;
    uint64_t result[JOBS];
    atomic_int runs[JOBS];
    atomic_int busy[THREADS]; /* a worker number is used by one thread at a time */
    atomic_size_t highest;
    size_t fail_from, fail_step;
};

static int square(void *ctx, size_t job, unsigned worker)
{
    struct board *b = ctx;
    /* cmocka's asserts are for the main thread; others only count. */
    if (worker >= b->threads || atomic_fetch_add(&b->busy[worker], 1) != 0)
        return PGK_E_ARG;
    atomic_fetch_add(&b->runs[job], 1);
    b->result[job] = (uint64_t)job * job;
    if (job % 512 == 0)
        sched_yield();
    atomic_fetch_sub(&b->busy[worker], 1);
    return 0;
}

static void runs_every_job_once(void **state)
{
    (void)state;
    static struct board b;
    for (unsigned threads = 0; threads <= THREADS; threads++) {
        memset(&b, 0, sizeof b);
        b.threads = pgk_pool_threads(threads, JOBS);
        if (b.threads > THREADS)
            b.threads = THREADS;
        assert_int_equal(pgk_pool_run(b.threads, JOBS, square, &b), 0);
        for (size_t i = 0; i < JOBS; i++) {
            assert_int_equal(b.runs[i], 1);
            assert_true(b.result[i] == (uint64_t)i * i);
        }
    }
}

static int fail_some(void *ctx, size_t job, unsigned worker)
{
    struct board *b = ctx;
    (void)worker;
    atomic_fetch_add(&b->runs[job], 1);
    size_t high = atomic_load(&b->highest);
    while (job > high && !atomic_compare_exchange_weak(&b->highest, &high, job))
        continue;
    if (job < b->fail_from || (job - b->fail_from) % b->fail_step != 0)
        return 0;
    /* The lowest one is slowest, so that higher failures are known first. */
    if (job == b->fail_from)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    return -(int)job - 1;
}

static void the_lowest_failure_decides_for_any_thread_count(void **state)
{
    (void)state;
    static struct board b;
    for (int round = 0; round < 300; round++) {
        memset(&b, 0, sizeof b);
        b.fail_from = (size_t)round * 3;
        b.fail_step = (size_t)(1 + round % 5);
        unsigned threads = 1 + (unsigned)round % THREADS;
        int status = pgk_pool_run(threads, JOBS, fail_some, &b);
        assert_int_equal(status, -(int)b.fail_from - 1);
        for (size_t i = 0; i <= b.fail_from; i++)
            assert_int_equal(b.runs[i], 1);
        if (threads == 1)
            assert_int_equal(b.highest, b.fail_from);
    }
}

struct late {
    atomic_int started, failed;
};

/* Gives up after some seconds, for a machine that grants no second thread. */
static void wait_until_set(atomic_int *flag)
{
    const struct timespec ms = {.tv_nsec = 1000000};
    for (int i = 0; i < 5000 && !atomic_load(flag); i++)
        nanosleep(&ms, NULL);
}

static int fail_in_order(void *ctx, size_t job, unsigned worker)
{
    struct late *l = ctx;
    (void)worker;
    if (job == 0) {
        wait_until_set(&l->started);
        atomic_store(&l->failed, 1);
        return -10;
    }
    atomic_store(&l->started, 1);
    wait_until_set(&l->failed);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return -11;
}

static void a_higher_failure_that_comes_later_does_not_count(void **state)
{
    (void)state;
    struct late l = {0};
    assert_int_equal(pgk_pool_run(2, 2, fail_in_order, &l), -10);
    assert_int_equal(l.started, 1);
}

static int never(void *ctx, size_t job, unsigned worker)
{
    (void)ctx, (void)job, (void)worker;
    return PGK_E_ARG;
}

static void no_jobs_is_fine(void **state)
{
    (void)state;
    assert_int_equal(pgk_pool_run(8, 0, never, NULL), 0);
    assert_int_equal(pgk_pool_run(0, 0, never, NULL), 0);
}

static void a_single_job_runs_on_the_caller(void **state)
{
    (void)state;
    assert_int_equal(pgk_pool_run(8, 1, never, NULL), PGK_E_ARG);
}

static void thread_counts(void **state)
{
    (void)state;
    assert_int_equal(pgk_pool_threads(4, 100), 4);
    assert_int_equal(pgk_pool_threads(100, 4), 4);
    assert_int_equal(pgk_pool_threads(4, 0), 1);
    assert_int_equal(pgk_pool_threads(4, 1), 1);
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(pgk_pool_threads(0, SIZE_MAX), CPU_COUNT(&set));

    /* A process that may use one processor only gets one thread. */
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) {
            CPU_SET(i, &one);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(pgk_pool_threads(0, 1000), 1);
    sched_setaffinity(0, sizeof set, &set);
}

static void works_without_memory_for_threads(void **state)
{
    (void)state;
    static struct board b;
    memset(&b, 0, sizeof b);
    b.threads = THREADS;
    pgk_mem_fail_after(1);
    int status = pgk_pool_run(THREADS, JOBS, square, &b);
    pgk_mem_fail_after(0);
    assert_int_equal(status, 0);
    for (size_t i = 0; i < JOBS; i++)
        assert_int_equal(b.runs[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_every_job_once),
        cmocka_unit_test(the_lowest_failure_decides_for_any_thread_count),
        cmocka_unit_test(a_higher_failure_that_comes_later_does_not_count),
        cmocka_unit_test(no_jobs_is_fine),
        cmocka_unit_test(a_single_job_runs_on_the_caller),
        cmocka_unit_test(thread_counts),
        cmocka_unit_test(works_without_memory_for_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
