/* Job pool: runs numbered jobs on threads. Jobs write to places of their own, so
 * results do not depend on the number of threads. */
#ifndef PGK_POOL_H
#define PGK_POOL_H

#include <stddef.h>

/* One job; returns 0 or a PGK_E_... code. `worker` is 0 .. threads-1. */
typedef int pgk_job_fn(void *ctx, size_t job, unsigned worker);

/* Runs jobs 0 .. count-1 on up to `threads` threads (0: one per processor the
 * process may use), the caller being one of them. Jobs start in order. After a
 * failure no job with a higher number is started; returns the status of the failed
 * job with the lowest number, so that the message is the same for any thread count. */
int pgk_pool_run(unsigned threads, size_t count, pgk_job_fn *fn, void *ctx);

/* The number of threads meant by `threads` for `count` jobs. */
unsigned pgk_pool_threads(unsigned threads, size_t count);

#endif
