/* Maps counters on demand, if the address space cannot hold all of them at once: under a limit, or
 * a system that does not overcommit. They lie where the system maps nothing by itself, and a
 * handler of SIGSEGV maps a piece when it is first written. The program's own settings for that
 * signal are kept here and apply to all other faults. */
#include "runtime_shadow.h"

#include "guest_sys.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

enum { CHUNK = 64 << 10 };

/* Names that no program replaces. */
int __sigaction(int sig, const struct sigaction *to, struct sigaction *old);
void (*ssignal(int sig, void (*handler)(int)))(int);

PGRT_EXPORT int sigaction(int sig, const struct sigaction *restrict to,
                          struct sigaction *restrict old);
PGRT_EXPORT void (*signal(int sig, void (*handler)(int)))(int);

static bool on_demand;
/* The second eighth of all addresses: programs are above, in the upper half, or below. On x86-64
 * from 2^44 on. */
static u64 demand_at;
static struct sigaction theirs; /* what the program asked for */

/* False if there is no memory; another thread may be faster. */
static bool map_chunk(uintptr_t at)
{
    const long p = pgg_sys_pages_at(at & -(uintptr_t)CHUNK, CHUNK);
    if (p < 0 && p != -EEXIST)
        pgrt_say("out of memory for the counters, so the program cannot go on", pgg_errno_name(p));
    return p >= 0 || p == -EEXIST;
}

/* The system's default action ends the process, at the same instruction. */
static void let_it_end(const siginfo_t *info)
{
    const struct sigaction ends = {.sa_handler = SIG_DFL};
    if (info->si_code <= 0 && theirs.sa_handler == SIG_IGN)
        return;
    __sigaction(SIGSEGV, &ends, NULL);
    if (info->si_code <= 0)
        pgg_sys_signal_thread(SIGSEGV);
}

static void fault(int sig, siginfo_t *info, void *context)
{
    const uintptr_t at = (uintptr_t)info->si_addr;
    if (info->si_code == SEGV_MAPERR && at - demand_at < pgrt_shadow_bytes && map_chunk(at))
        return;
    if (theirs.sa_handler == SIG_DFL || theirs.sa_handler == SIG_IGN)
        let_it_end(info);
    else if (theirs.sa_flags & SA_SIGINFO)
        theirs.sa_sigaction(sig, info, context);
    else
        theirs.sa_handler(sig);
}

uintptr_t pgrt_demand_begin(void)
{
    /* On the stack for signals where there is one: that of the thread may be all used. */
    const struct sigaction ours = {.sa_sigaction = fault,
                                   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
    demand_at = pgrt_shadow_bytes;
    if (__sigaction(SIGSEGV, &ours, &theirs) || !map_chunk(demand_at))
        return 0;
    on_demand = true;
    return demand_at;
}

int sigaction(int sig, const struct sigaction *restrict to, struct sigaction *restrict old)
{
    if (PGG_LIKELY(!on_demand || sig != SIGSEGV))
        return __sigaction(sig, to, old);
    const struct sigaction before = theirs;
    if (to)
        theirs = *to;
    if (old)
        *old = before;
    return 0;
}

/* As the C library does it: the handler stays, and interrupted calls go on. */
void (*signal(int sig, void (*handler)(int)))(int)
{
    struct sigaction to = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    if (PGG_LIKELY(!on_demand || sig != SIGSEGV) || handler == SIG_ERR)
        return ssignal(sig, handler);
    sigaction(sig, &to, &old);
    return old.sa_handler;
}
