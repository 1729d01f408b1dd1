/* Start and end, and what programs may call. */
#include "guest_confine.h"
#include "guest_file.h"
#include "guest_frames.h"
#include "guest_process.h"
#include "guest_sys.h"
#include "recorder_options.h"
#include "recorder_perf.h"
#include "recorder_real.h"
#include "recorder_signals.h"
#include "recorder_table.h"
#include "recorder_thread.h"
#include "recorder_weight.h"

PGBR_EXPORT void pgokit_branches_start(void);
PGBR_EXPORT void pgokit_branches_stop(void);
PGBR_EXPORT void pgokit_branches_yield(void);

void pgokit_branches_start(void)
{
    pgbr_switch(true);
}

void pgokit_branches_stop(void)
{
    pgbr_switch(false);
}

/* For another copy of the recorder, which records this process: one recording is there of it, so
 * that what this one has, if a tick came before, is removed. */
void pgokit_branches_yield(void)
{
    pgbr_switch(false);
    pgbr_off_for_good(NULL, NULL);
    pgg_lock(&pgbr_lock);
    pgbr_perf_drop();
    pgbr_table_drop();
    pgg_unlock(&pgbr_lock);
}

/* Under a filter a tick, too, may be what kills. */
static void before_confined(u32 takes)
{
    if (!(takes & PGG_LESS_CALLS))
        return;
    pgg_confined = true;
    pgbr_off_for_good("recording stops", "the process puts itself under a filter of system calls "
                                         "(seccomp), which may forbid the recorder's");
}

/* Before anything of the program runs; the C library is there. */
__attribute__((constructor(101))) static void at_load(void)
{
    pgbr_real_alone();
    pgg_confine_watch(before_confined);
    pgg_frames_ready();
    pgg_file_init();
    pgbr_options_read();
    pgbr_weights_init(pgbr_options.frequency, pgbr_options.budget);
    pgbr_start_time = pgg_process_clock_ms();
    pgbr_threads_init();
    pgbr_signals_switch();
    if (pgbr_options.enabled)
        pgbr_switch(true);
}

/* A process without a whole window reports why there is none. */
__attribute__((destructor(101))) static void at_exit(void)
{
    pgbr_switch(false);
    if (!pgg_confined && __atomic_load_n(&pgbr_counters[PGK_BRANCH_TICKS], __ATOMIC_RELAXED)) {
        pgg_lock(&pgbr_lock);
        pgbr_table_open();
        pgbr_table_end();
        pgg_unlock(&pgbr_lock);
    }
}
