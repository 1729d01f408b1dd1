/* The time and the processor of now. */
#include "sampler_time.h"

#include "guest_process.h"

#include <sched.h>
#include <time.h>

u64 pgsm_start_time;
static u64 start_ms;

static u64 now_of(clockid_t which)
{
    struct timespec now;
    return clock_gettime(which, &now) ? 0 : (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

void pgsm_time_begin(void)
{
    pgsm_start_time = pgg_process_clock_ms();
    start_ms = now_of(CLOCK_MONOTONIC_COARSE) / 1000000;
}

u32 pgsm_now_ms(void)
{
    return (u32)(now_of(CLOCK_MONOTONIC_COARSE) / 1000000 - start_ms);
}

u64 pgsm_processor_ns(void)
{
    return now_of(CLOCK_PROCESS_CPUTIME_ID);
}

u64 pgsm_clock_ns(void)
{
    return now_of(CLOCK_MONOTONIC);
}

u32 pgsm_cpu(void)
{
    return (u32)sched_getcpu();
}
