/* Dumps on a signal, after some time, or when the program has grown, as far as options ask for
 * them. They are written by whichever thread allocates next, or by the signal's handler if its
 * thread is outside the runtime. */
#include "runtime_trigger.h"

#include "runtime_alloc.h"
#include "runtime_dump.h"
#include "runtime_options.h"
#include "runtime_start.h"
#include "runtime_thread.h"

#include <errno.h>
#include <signal.h>

volatile u32 pgrt_dump_due = UINT32_MAX;
static u32 next_growth = UINT32_MAX; /* in regions */

static u32 next_time(void)
{
    u64 due = (u64)pgrt_now_ms() + pgrt_options.dump_every * 1000;
    return pgrt_options.dump_every && due < UINT32_MAX ? (u32)due : UINT32_MAX;
}

void pgrt_dump_if_due(void)
{
    u32 due = __atomic_load_n(&pgrt_dump_due, __ATOMIC_RELAXED);
    if (due > pgrt_now_ms() ||
        !__atomic_compare_exchange_n(&pgrt_dump_due, &due, next_time(), false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    struct pgrt_thread *t = pgrt_busy() ? NULL : pgrt_enter_paused();
    if (!t)
        return;
    pgrt_leave(t);
    pgrt_dump(false);
}

static void on_signal(int sig)
{
    int error = errno;
    (void)sig;
    __atomic_store_n(&pgrt_dump_due, 0, __ATOMIC_RELAXED);
    if (!pgrt_busy() && pgrt_self)
        pgrt_dump_if_due();
    errno = error;
}

void pgrt_memory_grew(u32 regions)
{
    if (regions < next_growth)
        return;
    next_growth = regions + (u32)(pgrt_options.dump_memory << 20 >> PGRT_REGION_SHIFT);
    __atomic_store_n(&pgrt_dump_due, 0, __ATOMIC_RELAXED);
}

void pgrt_triggers_init(void)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
    if (pgrt_options.dump_signal && sigaction((int)pgrt_options.dump_signal, &action, NULL))
        pgrt_say("dump_signal", "no such signal, or one that cannot be caught");
    if (pgrt_options.dump_memory)
        next_growth = (u32)(pgrt_options.dump_memory << 20 >> PGRT_REGION_SHIFT);
    pgrt_dump_due = next_time();
}
