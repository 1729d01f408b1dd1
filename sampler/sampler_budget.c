/* The cost of sampling, and the distance between samples that follows from it. Each visit is timed,
 * and every PERIOD_MS the distance is multiplied by what they took too much: half of the budget is
 * for them, and half for the recorder's windows. */
#include "sampler_budget.h"

#include "guest_processor.h"
#include "recorder_access.h"
#include "sampler_options.h"
#include "sampler_range.h"
#include "sampler_time.h"

enum {
    PERIOD_MS = 50,
    PERIOD_NS = 2000000,  /* of processor time: with less, the share says little */
    MOST_TICKS = 1 << 18, /* of a visit: what takes longer waited for a processor */
    FIRST_MEAN = 128 << 10,
    LEAST_MEAN = 4 << 10,
    MOST_MEAN = 1 << 30,
    LESS = 2, /* to what part it may become at once */
    MORE = 8,
    VISITS = 256, /* after so many it is looked at, too */
};

static double mean = FIRST_MEAN, most_mean; /* now, and at most so far */
static volatile u32 lock, due_ms;
static u64 spent_ticks;             /* since the start */
static u64 start_ticks, start_ns;   /* to find out how long a tick is */
static u64 period_ticks, period_ns; /* what was spent and used when it began */
static u64 first_ns;                /* used of processors when sampling began */
static volatile u32 visits;

static double least_mean(void)
{
    return pgsm_options.sample ? (double)pgsm_options.sample : LEAST_MEAN;
}

void pgsm_budget_begin(void)
{
    start_ticks = pgg_ticks();
    start_ns = pgsm_clock_ns();
    first_ns = period_ns = pgsm_processor_ns();
    mean = pgsm_options.sample ? (double)pgsm_options.sample : FIRST_MEAN;
    most_mean = mean;
    due_ms = PERIOD_MS;
}

void pgsm_budget_after_fork(void)
{
    lock = 0;
    spent_ticks = period_ticks = 0;
    first_ns = period_ns = pgsm_processor_ns();
    most_mean = mean;
    due_ms = pgsm_now_ms() + PERIOD_MS;
}

double pgsm_mean(void)
{
    return mean;
}

double pgsm_most_mean(void)
{
    return most_mean;
}

/* 0: not known yet. */
static double tick_ns(void)
{
    const u64 ticks = pgg_ticks() - start_ticks, ns = pgsm_clock_ns() - start_ns;
    return ticks && ns > PERIOD_NS ? (double)ns / (double)ticks : 0;
}

static double clamp(double v, double lowest, double highest)
{
    return v < lowest ? lowest : v > highest ? highest : v;
}

/* What samples may take of the processor time. */
static double share(void)
{
    return (double)pgsm_options.budget / 1000 / (pgbr_accesses.take ? 2 : 1);
}

static void adapt(void)
{
    const u64 now_ns = pgsm_processor_ns(), ticks = spent_ticks;
    const double used_ns = (double)(now_ns - period_ns),
                 spent_ns = (double)(ticks - period_ticks) * tick_ns();
    if (used_ns < PERIOD_NS)
        return;
    double by = spent_ns / used_ns / share();
    /* What was spent too much is saved again. */
    if ((double)ticks * tick_ns() > (double)(now_ns - first_ns) * share())
        by *= 2;
    /* Memory is part of the cost: what is nearly full lasts longer with fewer samples. */
    const u64 limit = pgsm_options.limit << 20, bytes = pgsm_range_bytes();
    by = bytes > limit / 4 * 3 ? LESS : bytes > limit / 2 && by < 1 ? 1 : by;
    mean = clamp(mean * clamp(by, 1.0 / LESS, MORE), least_mean(), MOST_MEAN);
    most_mean = mean > most_mean ? mean : most_mean;
    period_ns = now_ns;
    period_ticks = ticks;
}

void pgsm_spent(u64 ticks)
{
    const u32 now_ms = pgsm_now_ms(), due = due_ms;
    const u64 took = pgg_ticks() - ticks;
    __atomic_fetch_add(&spent_ticks, took < MOST_TICKS ? took : MOST_TICKS, __ATOMIC_RELAXED);
    const u32 n = __atomic_add_fetch(&visits, 1, __ATOMIC_RELAXED);
    if (PGG_LIKELY(now_ms < due && n < VISITS) || __atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        return;
    visits = 0;
    adapt();
    due_ms = now_ms + PERIOD_MS;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

u64 pgsm_cost_ns(void)
{
    const double samples = (double)spent_ticks * tick_ns();
    return (u64)samples + (pgbr_accesses.take ? pgbr_cost_ns() : 0);
}
