/* Signals that faults send, and the recorder's own. */
#include "recorder_signals.h"

#include "guest_sys.h"
#include "recorder_options.h"
#include "recorder_real.h"
#include "recorder_thread.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#define BIT(sig) (UINT64_C(1) << ((sig)-1))
const u64 pgbr_fault_signals = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) |
                               BIT(SIGTRAP);

/* The C library's own function, under the name by which it calls it itself. */
int __sigaction(int sig, const struct sigaction *action, struct sigaction *old);

int pgbr_signal;

static struct sigaction wanted[65]; /* what the program has set up */
static u64 given_up; /* signals that were the recorder's until the program used them */
static volatile u32 changing;
static bool installed;

static bool is_fault(int sig)
{
    return sig > 0 && sig < 65 && pgbr_fault_signals & BIT(sig);
}

static bool is_given_up(int sig)
{
    return sig > 0 && sig < 65 && given_up & BIT(sig);
}

static bool is_ours(int sig)
{
    return installed && sig > 0 && (is_fault(sig) || sig == pgbr_signal || is_given_up(sig));
}

/* ---- a signal arrives ---- */

/* The program does not handle it: it has its default effect, now or when it comes again at once. */
static void by_default(int sig, siginfo_t *info)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    __sigaction(sig, &usual, NULL);
    if (info->si_code <= 0 || sig == SIGTRAP)
        pgg_sys_signal_queue(sig, info);
}

static void to_program(int sig, siginfo_t *info, void *context)
{
    const int flags = wanted[sig].sa_flags;
    void (*plain)(int) = __atomic_load_n(&wanted[sig].sa_handler, __ATOMIC_ACQUIRE);
    void (*handler)(int, siginfo_t *, void *) = wanted[sig].sa_sigaction;
    if (plain == SIG_IGN && info->si_code <= 0)
        return;
    if (plain == SIG_DFL || plain == SIG_IGN) {
        by_default(sig, info);
        return;
    }
    if (flags & (int)SA_RESETHAND)
        wanted[sig].sa_handler = SIG_DFL;
    handler(sig, info, context);
}

static const int of_context[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/* In a copy, or in what does a branch for it. The engine stays with the thread, as the kernel may
 * yet read its stack. */
static void put_back(struct pgbr_engine *x, ucontext_t *context, bool in_copy)
{
    greg_t *regs = context->uc_mcontext.gregs;
    if (in_copy) {
        x->at = pgbr_place_of(x, (u64)regs[REG_RIP], regs);
    } else {
        for (int i = 0; i < 16; i++)
            regs[of_context[i]] = (greg_t)x->regs[i];
        regs[REG_EFL] = (greg_t)x->flags;
    }
    regs[REG_RIP] = (greg_t)x->at;
    const ucontext_t *first = (const ucontext_t *)(const void *)x->thread->context;
    *(u64 *)(void *)&context->uc_sigmask = *(const u64 *)(const void *)&first->uc_sigmask;
    x->thread->engine = x;
    pgbr_count(PGK_BRANCH_FAULT);
    pgbr_arm(x->thread);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    const greg_t *regs = uc->uc_mcontext.gregs;
    struct pgbr_engine *x = pgbr_engine_of_code((u64)regs[REG_RIP]);
    const bool in_copy = x;
    if (!x)
        x = pgbr_engine_of_stack((u64)regs[REG_RSP]);
    const bool sent = info->si_code <= 0 || sig == SIGTRAP;
    if (!x || (x->ending && !sent)) {
        to_program(sig, info, context);
        return;
    }
    if (x->ending) { /* it comes when the thread has its own mask again */
        *(u64 *)(void *)&uc->uc_sigmask |= BIT(sig);
        pgg_sys_signal_queue(sig, info);
        return;
    }
    if (sent) { /* it ends the window */
        x->late_info = *info;
        __atomic_store_n(&x->late, (u32)sig, __ATOMIC_RELAXED);
        return;
    }
    put_back(x, uc, in_copy);
}

static bool is_tick(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && pgbr_thread_is_known(info->si_value.sival_ptr);
}

/* Ticks that were under way when the signal was given up are dropped. */
static void on_own(int sig, siginfo_t *info, void *context)
{
    if (!is_tick(info))
        to_program(sig, info, context);
    else if (sig == pgbr_signal && pgbr_thread_of(info->si_value.sival_ptr))
        pgbr_on_tick(sig, info, context);
}

static void on_switch(int sig)
{
    (void)sig;
    pgbr_switch(!pgbr_is_on());
}

/* ---- what the program sets up ---- */

static int take_over(int sig, const struct sigaction *action)
{
    const bool handled = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
    struct sigaction ours = *action;
    if (sig == pgbr_signal || (is_given_up(sig) && !handled)) {
        ours = (struct sigaction){.sa_sigaction = on_own,
                                  .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
        sigfillset(&ours.sa_mask);
    } else if (handled) {
        ours.sa_sigaction = is_fault(sig) ? on_fault : on_own;
        ours.sa_flags = (action->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
    } else if (action->sa_handler == SIG_DFL) {
        ours.sa_sigaction = on_fault;
        ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    }
    return __sigaction(sig, &ours, NULL);
}

static bool is_unused(int sig)
{
    struct sigaction now;
    return !__sigaction(sig, NULL, &now) && now.sa_handler == SIG_DFL;
}

/* The one that is wished for, or else the highest that nobody uses. The first three of the system
 * are the C library's. 0: there is none. */
static int free_signal(void)
{
    int sig = (int)pgbr_options.signal;
    if (!is_given_up(sig) && is_unused(sig))
        return sig;
    for (sig = SIGRTMAX; sig >= SIGRTMIN && !is_unused(sig); sig--)
        continue;
    return sig >= SIGRTMIN ? sig : 0;
}

static void use(int sig)
{
    pgbr_signal = sig;
    __sigaction(sig, NULL, &wanted[sig]);
    take_over(sig, &wanted[sig]);
}

static void say_none_is_free(void)
{
    pgbr_off_for_good("recording stops",
                      "the program uses all real-time signals, and the recorder needs one");
}

void pgbr_signals_install(void)
{
    static volatile u32 once;
    if (__atomic_exchange_n(&once, 1, __ATOMIC_ACQ_REL))
        return;
    for (int sig = 1; sig < 65; sig++)
        if (is_fault(sig)) {
            __sigaction(sig, NULL, &wanted[sig]);
            take_over(sig, &wanted[sig]);
        }
    installed = true;
    const int sig = free_signal();
    if (sig)
        use(sig);
    else
        say_none_is_free();
}

/* The program uses the recorder's signal, which takes another one from now on. */
static void give_up(void)
{
    const int sig = free_signal();
    given_up |= BIT(pgbr_signal);
    if (sig) {
        use(sig);
        pgbr_threads_signal();
    } else {
        pgbr_signal = 0;
        say_none_is_free();
    }
}

void pgbr_signals_switch(void)
{
    const struct sigaction switches = {.sa_handler = on_switch,
                                       .sa_flags = SA_RESTART | SA_ONSTACK};
    if (pgbr_options.switch_signal &&
        __sigaction((int)pgbr_options.switch_signal, &switches, NULL))
        pgbr_say("switch_signal", "no such signal, or one that cannot be caught");
}

bool pgbr_signals_known(void)
{
    for (int sig = 1; sig < 65; sig++) {
        struct sigaction now;
        if (is_fault(sig) && (__sigaction(sig, NULL, &now) ||
                              (now.sa_sigaction != on_fault && now.sa_handler != SIG_IGN)))
            return false;
    }
    return true;
}

PGBR_EXPORT int sigaction(int sig, const struct sigaction *action, struct sigaction *old);
PGBR_EXPORT __sighandler_t signal(int sig, __sighandler_t handler);
PGBR_EXPORT __sighandler_t bsd_signal(int sig, __sighandler_t handler);
PGBR_EXPORT __sighandler_t __sysv_signal(int sig, __sighandler_t handler);
PGBR_EXPORT __sighandler_t sysv_signal(int sig, __sighandler_t handler);

static int set_up(int sig, const struct sigaction *action)
{
    if (sig == pgbr_signal && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
        give_up();
    return take_over(sig, action);
}

/* The settings that the program expects. If it used other means than the functions here, it finds
 * its own settings. */
static struct sigaction current(int sig)
{
    struct sigaction now = {0};
    __sigaction(sig, NULL, &now);
    return now.sa_sigaction == on_fault || now.sa_sigaction == on_own ? wanted[sig] : now;
}

/* A child of vfork has what it sets up for itself, but runs in its parent's memory. */
static bool is_in_own_memory(void)
{
    return pgg_sys_process() == pgbr_process;
}

static sigset_t begin_change(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pgg_lock(&changing);
    return before;
}

static void end_change(const sigset_t *before)
{
    pgg_unlock(&changing);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

int sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    int result = 0;
    if (!is_ours(sig))
        return __sigaction(sig, action, old);
    const sigset_t before = begin_change();
    const struct sigaction had = current(sig);
    if (action && is_in_own_memory()) {
        wanted[sig] = *action;
        result = set_up(sig, action);
        if (result)
            wanted[sig] = had;
    } else if (action) {
        result = __sigaction(sig, action, NULL);
    }
    end_change(&before);
    if (old && !result)
        *old = had;
    return result;
}

static __sighandler_t set_handler(int sig, __sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    if (!(flags & SA_NODEFER))
        sigaddset(&action.sa_mask, sig);
    return sigaction(sig, &action, &old) ? SIG_ERR : old.sa_handler;
}

__sighandler_t signal(int sig, __sighandler_t handler)
{
    return is_ours(sig) ? set_handler(sig, handler, SA_RESTART) : ssignal(sig, handler);
}

__sighandler_t bsd_signal(int sig, __sighandler_t handler)
{
    return signal(sig, handler);
}

/* The signal() of programs for System V. */
__sighandler_t __sysv_signal(int sig, __sighandler_t handler)
{
    return set_handler(sig, handler, (int)SA_RESETHAND | SA_NODEFER);
}

__sighandler_t sysv_signal(int sig, __sighandler_t handler)
{
    return __sysv_signal(sig, handler);
}

/* ---- the program waits for signals, of which the recorder's is none ---- */

PGBR_EXPORT int sigwait(const sigset_t *set, int *sig);
PGBR_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info);
PGBR_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *most);
PGBR_EXPORT int signalfd(int fd, const sigset_t *mask, int flags);

/* Who waits for some real-time signals and not for others uses them. */
static bool is_chosen(const sigset_t *set)
{
    for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
        if (!sigismember(set, sig))
            return true;
    return false;
}

/* Ticks wait for a thread that blocks the signal. */
static void drop_ticks(int sig)
{
    const struct timespec at_once = {0};
    sigset_t only;
    siginfo_t info;
    sigemptyset(&only);
    sigaddset(&only, sig);
    while (pgbr_real()->sigtimedwait(&only, &info, &at_once) == sig)
        if (!is_tick(&info)) {
            pgg_sys_signal_queue(sig, &info);
            return;
        }
}

static void give_up_for_wait(int sig)
{
    const sigset_t before = begin_change();
    if (sig == pgbr_signal)
        give_up();
    drop_ticks(sig);
    end_change(&before);
}

static sigset_t without_own(const sigset_t *set)
{
    sigset_t others = *set;
    const int own = pgbr_signal;
    if (!installed || !own || !sigismember(set, own) || wanted[own].sa_handler != SIG_DFL)
        return others;
    if (is_chosen(set) && is_in_own_memory())
        give_up_for_wait(own);
    else
        sigdelset(&others, own);
    return others;
}

int sigwait(const sigset_t *set, int *sig)
{
    const sigset_t others = without_own(set);
    return pgbr_real()->sigwait(&others, sig);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    const sigset_t others = without_own(set);
    return pgbr_real()->sigwaitinfo(&others, info);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *most)
{
    const sigset_t others = without_own(set);
    return pgbr_real()->sigtimedwait(&others, info, most);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    const sigset_t others = without_own(mask);
    return pgbr_real()->signalfd(fd, &others, flags);
}
