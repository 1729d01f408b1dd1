/* The functions by which a process takes rights away from itself. What it may do is noted here,
 * because under a filter the question itself may kill. */
#include "runtime_confine.h"

#include "guest_sys.h"
#include "runtime_alloc.h"
#include "runtime_cost.h"
#include "runtime_socket.h"
#include "runtime_store.h"
#include "runtime_thread.h"

#include <linux/seccomp.h>
#include <stdarg.h>

#define REPLACES PGRT_EXPORT __attribute__((weak))

REPLACES int prctl(int option, ...);
REPLACES long syscall(long number, ...);

static int start_mode; /* under a filter of its parent the runtime could start */

void pgrt_confine_init(void)
{
    start_mode = pgg_sys_filter_mode();
    pgrt_cost_init(pgg_sys_ticks_allowed());
}

void pgrt_confine_ask(void)
{
    if (!pgg_confined && start_mode != SECCOMP_MODE_FILTER)
        pgg_confined = pgg_sys_filter_mode() == SECCOMP_MODE_FILTER;
}

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

static void note(u32 takes, long result)
{
    if (result >= 0 && takes & PGG_LESS_CALLS)
        pgg_confined = true;
}

int prctl(int option, ...)
{
    long arguments[PGG_SYS_ARGUMENTS] = {option};
    va_list list;
    va_start(list, option);
    for (int i = 1; i < 5; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    const u32 takes = pgg_sys_control_takes(arguments);
    if (PGG_UNLIKELY(takes))
        prepare(takes);
    const long result = pgg_sys_control(arguments);
    note(takes, result);
    return (int)pgg_sys_with_errno(result);
}

long syscall(long number, ...)
{
    long arguments[PGG_SYS_ARGUMENTS];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < PGG_SYS_ARGUMENTS; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    const u32 takes = pgg_sys_any_takes(number, arguments);
    if (PGG_UNLIKELY(takes))
        prepare(takes);
    const long result = pgg_sys_any(number, arguments);
    note(takes, result);
    return pgg_sys_with_errno(result);
}
