/* prctl and syscall for the program. What it may do is noted here, because under a filter the
 * question itself may kill. */
#include "guest_confine.h"

#include "guest_sys.h"

#include <stdarg.h>

#define REPLACES __attribute__((visibility("default"), used, weak))

REPLACES int prctl(int option, ...);
REPLACES long syscall(long number, ...);

static void (*prepare)(u32 takes);

void pgg_confine_watch(void (*before)(u32 takes))
{
    prepare = before;
}

static void begins(u32 takes)
{
    if (PGG_UNLIKELY(takes) && prepare)
        prepare(takes);
}

static long ends(u32 takes, long result)
{
    if (result >= 0 && takes & PGG_LESS_CALLS)
        pgg_confined = true;
    return pgg_sys_with_errno(result);
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
    begins(takes);
    return (int)ends(takes, pgg_sys_control(arguments));
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
    begins(takes);
    return ends(takes, pgg_sys_any(number, arguments));
}
