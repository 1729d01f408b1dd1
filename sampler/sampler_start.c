/* Start, fork, exec and end. */
#include "sampler_start.h"

#include "guest_confine.h"
#include "guest_exec.h"
#include "guest_file.h"
#include "guest_frames.h"
#include "guest_modules.h"
#include "guest_open.h"
#include "guest_sys.h"
#include "guest_walk.h"
#include "recorder_access.h"
#include "sampler_budget.h"
#include "sampler_dump.h"
#include "sampler_file.h"
#include "sampler_lock.h"
#include "sampler_next.h"
#include "sampler_object.h"
#include "sampler_options.h"
#include "sampler_sums.h"
#include "sampler_thread.h"
#include "sampler_time.h"
#include "sampler_window.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int pgsm_process;
static bool stopped, is_child; /* a child that only runs another program leaves no file */

void pgsm_stop(const char *why, const char *detail)
{
    if (!__atomic_exchange_n(&stopped, true, __ATOMIC_ACQ_REL) && why)
        pgsm_say(why, detail);
    pgsm_on = false;
}

/* ---- fork ---- */

static void forget(void *arg, struct pgsm_note *note)
{
    (void)arg;
    note->context = 0;
}

/* What is alive is the parent's, whose profile has it. */
void pgsm_forked(void)
{
    pgsm_process = pgg_sys_process();
    is_child = true;
    pgsm_time_begin();
    pgsm_range_each(forget, NULL);
    pgsm_windows_clear();
    pgsm_sums_clear();
    pgsm_threads_after_fork();
    pgsm_budget_after_fork();
    pgg_modules_after_fork();
    pgsm_file_forked();
    pgsm_dropped = 0;
    pgsm_dump_begin();
}

static void after_fork_in_child(void)
{
    pgsm_lock_after_fork();
    pgsm_lock(); /* finds out that this is a child */
    pgsm_unlock();
}

/* ---- exec and end ---- */

/* A child that shares its parent's memory has no profile of its own. */
static bool is_ours(void)
{
    return pgsm_process && !pgsm_hot.busy && !pgg_confined && pgg_sys_process() == pgsm_process;
}

static void exec_begins(void)
{
    if (is_ours())
        pgsm_dump(true, !is_child && pgsm_options.enabled);
}

static void exec_failed(void) {}

static void finish(void)
{
    pgsm_on = false;
    if (is_ours() && pgbr_accesses.take)
        pgbr_stop_for_accesses();
    if (is_ours() && pgsm_options.dump_at_exit)
        pgsm_dump(true, !is_child && pgsm_options.enabled);
}

/* After the destructors of the program; what they still free is in the profile. */
__attribute__((destructor(101))) static void at_exit(void)
{
    finish();
    pgsm_process = 0;
}

PGSM_EXPORT void _exit(int status) __attribute__((noreturn));
PGSM_EXPORT void _Exit(int status) __attribute__((noreturn));

/* Programs that end in this way run no destructors. */
void _exit(int status)
{
    finish();
    pgg_sys_exit(status);
}

void _Exit(int status)
{
    _exit(status);
}

/* ---- signals and filters ---- */

static void dump_on_signal(int sig)
{
    const int error = errno;
    (void)sig;
    if (is_ours())
        pgsm_dump(false, false);
    else
        pgsm_dump_soon();
    errno = error;
}

static void switch_windows(bool on)
{
    if (!pgbr_accesses.take)
        return;
    if (on)
        pgbr_start_for_accesses((u32)(pgsm_options.budget + 1) / 2);
    else
        pgbr_stop_for_accesses();
}

static void switch_on_signal(int sig)
{
    (void)sig;
    if (stopped)
        return;
    pgsm_on = !pgsm_on;
    switch_windows(pgsm_on);
}

static void handle(u64 sig, void (*handler)(int), const char *option)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
    if (sig && sigaction((int)sig, &action, NULL))
        pgsm_say(option, "no such signal, or one that cannot be caught");
}

/* Under a filter no file can be made: what is known is written before it. */
static void before_confined(u32 takes)
{
    if (!(takes & PGG_LESS_CALLS) || !is_ours())
        return;
    pgbr_stop_for_accesses();
    pgsm_dump(true, false);
    pgsm_stop(pgsm_options.verbosity ? "sampling stops" : NULL,
              "the process puts itself under a filter of system calls (seccomp), which may forbid "
              "the sampler's");
}

/* ---- start ---- */

static void begin_windows(void)
{
    if (!pgsm_options.accesses)
        return;
    pgbr_accesses =
        (struct pgbr_accesses){pgsm_range.from, pgsm_range.bytes, pgsm_take, pgsm_window_ended};
    if (!pgbr_start_for_accesses((u32)(pgsm_options.budget + 1) / 2))
        pgbr_accesses = (struct pgbr_accesses){0};
}

static void begin(void)
{
    const bool space = pgsm_range.bytes > PGSM_ALIGN_MOST;
    pgg_file_init();
    pgg_walk_options = (struct pgg_walk_options){.depth = pgsm_options.depth};
    pgsm_threads_init();
    pgsm_budget_begin();
    pgsm_process = pgg_sys_process();
    if (!space) {
        pgsm_stop("nothing is sampled", "no addresses; raise the limit on memory (ulimit -v)");
        return;
    }
    pthread_atfork(pgsm_lock_before_fork, pgsm_lock_after_fork, after_fork_in_child);
    pgg_modules_refresh();
    pgg_exec_watch(exec_begins, exec_failed);
    handle(pgsm_options.dump_signal, dump_on_signal, "dump_signal");
    handle(pgsm_options.switch_signal, switch_on_signal, "switch_signal");
    pgsm_dump_begin();
    begin_windows();
    if (!pgsm_options.enabled)
        switch_windows(false);
    pgg_confine_watch(before_confined);
    pgsm_on = pgsm_options.enabled;
    pgsm_draw_anew();
}

static const char *name_of(const struct link_map *module)
{
    return module->l_prev ? module->l_name : "the program itself";
}

/* Before anything of the program runs; the C library is there. */
__attribute__((constructor(101))) static void at_load(void)
{
    pgsm_next_find();
    if (pgsm_next.theirs) {
        pgsm_stop("nothing is sampled, because malloc belongs to", name_of(pgsm_next.theirs));
        return;
    }
    pgg_open_watch(pgsm_say);
    pgg_modules_ready = true;
    pgg_frames_ready();
    pgsm_time_begin();
    pgsm_options_read();
    begin();
}
