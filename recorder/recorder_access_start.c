/* The recorder as part of a library that asks for accesses: no recording of branches is made. */
#include "guest_confine.h"
#include "guest_frames.h"
#include "guest_sys.h"
#include "recorder_access.h"
#include "recorder_options.h"
#include "recorder_real.h"
#include "recorder_signals.h"
#include "recorder_thread.h"
#include "recorder_weight.h"

enum { MOST_FREQUENT = 1000 }; /* ticks a second */

PGBR_EXPORT void pgokit_branches_yield(void);

/* For another copy of the recorder, which is the first one to be looked up. */
void pgokit_branches_yield(void)
{
    static const char why[] = "the process has another recorder, which goes on";
    if (!pgbr_is_on())
        pgbr_say("accesses are not counted", why);
    pgbr_off_for_good("accesses are not counted", why);
}

/* Under a filter a tick, too, may be what kills. */
static void before_confined(u32 takes)
{
    if (!(takes & PGG_LESS_CALLS))
        return;
    pgg_confined = true;
    pgbr_off_for_good("accesses are no longer counted",
                      "the process puts itself under a filter of system calls (seccomp)");
}

bool pgbr_start_for_accesses(u32 budget_permille)
{
    static bool started;
    if (!started) {
        started = true;
        if (pgbr_real_alone())
            pgbr_say("recording no branches", "the sampled heap profile of the process has the "
                                              "recorder, which counts accesses");
        pgg_confine_watch(before_confined);
        pgg_frames_ready();
        pgbr_options_default();
        pgbr_weights_init(MOST_FREQUENT, budget_permille ? budget_permille : 1);
        pgbr_threads_init();
    }
    pgbr_switch(true);
    return pgbr_is_on();
}

void pgbr_stop_for_accesses(void)
{
    pgbr_switch(false);
}
