/* Job pool: a parallel for over numbered jobs. */
#include "pool.h"

#include "mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

/* Jobs are taken in order and one is skipped only if a lower one failed. So the lowest
 * job that would fail is always run, whatever the threads do, and decides the status. */
struct run {
    pgk_job_fn *fn;
    void *ctx;
    atomic_size_t next;
    atomic_size_t lowest_failed; /* the number of jobs: none */
    pthread_mutex_t lock;        /* of `status` together with lowest_failed */
    int status;
};

struct worker {
    struct run *run;
    pthread_t thread;
    unsigned number;
};

static void note_failure(struct run *run, size_t job, int status)
{
    pthread_mutex_lock(&run->lock);
    if (job < atomic_load(&run->lowest_failed)) {
        atomic_store(&run->lowest_failed, job);
        run->status = status;
    }
    pthread_mutex_unlock(&run->lock);
}

static void work(struct run *run, unsigned number)
{
    for (;;) {
        size_t job = atomic_fetch_add(&run->next, 1);
        if (job >= atomic_load(&run->lowest_failed))
            return;
        int status = run->fn(run->ctx, job, number);
        if (status != 0)
            note_failure(run, job, status);
    }
}

static void *thread_main(void *arg)
{
    const struct worker *w = arg;
    work(w->run, w->number);
    return NULL;
}

static unsigned usable_processors(void)
{
    /* The set grows until the kernel's fits: a machine may have more than CPU_SETSIZE. */
    for (int cpus = CPU_SETSIZE; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = pgk_mem_alloc(1, CPU_ALLOC_SIZE(cpus));
        if (!set)
            break;
        int ok = sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0;
        int n = ok ? CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set) : 0;
        pgk_mem_free(set);
        if (n > 0)
            return (unsigned)n;
    }
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

unsigned pgk_pool_threads(unsigned threads, size_t count)
{
    if (count <= 1)
        return 1;
    if (threads == 0)
        threads = usable_processors();
    return threads < count ? threads : (unsigned)count;
}

int pgk_pool_run(unsigned threads, size_t count, pgk_job_fn *fn, void *ctx)
{
    struct run run = {.fn = fn, .ctx = ctx};
    atomic_init(&run.lowest_failed, count);
    pthread_mutex_init(&run.lock, NULL);

    /* Without memory or threads to be had the work still gets done, by fewer. */
    unsigned helpers = pgk_pool_threads(threads, count) - 1, started = 0;
    struct worker *workers = helpers ? pgk_mem_alloc(helpers, sizeof *workers) : NULL;
    for (; workers && started < helpers; started++) {
        struct worker *w = &workers[started];
        w->run = &run;
        w->number = started + 1;
        if (pthread_create(&w->thread, NULL, thread_main, w) != 0)
            break;
    }
    work(&run, 0);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);

    pgk_mem_free(workers);
    pthread_mutex_destroy(&run.lock);
    return run.status;
}
