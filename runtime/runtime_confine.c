/* Reacts when the process gives up rights. */
#include "runtime_confine.h"

#include "guest_confine.h"
#include "guest_sys.h"
#include "runtime_alloc.h"
#include "runtime_cost.h"
#include "runtime_socket.h"
#include "runtime_store.h"
#include "runtime_thread.h"

#include <linux/seccomp.h>

static int start_mode; /* under a filter of its parent the runtime could start */

/* What cannot be done later. */
static void prepare(u32 takes)
{
    struct pgrt_thread *t = takes & PGG_LESS_CALLS && !pgrt_busy() ? pgrt_enter_paused() : NULL;
    if (takes & PGG_LESS_TICKS)
        pgrt_cost_stop_timing();
    if (t) {
        pgrt_store_grow_ahead();
        pgrt_alloc_keep_pages();
        pgrt_leave(t);
    }
    if (takes & PGG_LESS_CALLS && !pgrt_busy())
        pgrt_socket_confined();
}

void pgrt_confine_init(void)
{
    start_mode = pgg_sys_filter_mode();
    pgg_confine_watch(prepare);
    pgrt_cost_init(pgg_sys_ticks_allowed());
}

void pgrt_confine_ask(void)
{
    if (!pgg_confined && start_mode != SECCOMP_MODE_FILTER)
        pgg_confined = pgg_sys_filter_mode() == SECCOMP_MODE_FILTER;
}
