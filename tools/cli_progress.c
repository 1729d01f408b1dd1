/* A thread that keeps the progress on standard error up to date: some steps of the library take
 * longer than two seconds. */
#include "cli.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void *keep_up_to_date(void *none)
{
    static const struct timespec pause = {.tv_nsec = 200000000};
    (void)none;
    for (;;) {
        nanosleep(&pause, NULL);
        pgk_progress_tick();
    }
}

static void end(void)
{
    pgk_progress_work(NULL);
}

/* Signals are for the main thread. */
void cli_show_progress(const struct cli_verb *verb)
{
    static bool runs;
    pthread_t thread;
    sigset_t all, was;
    if (runs || !isatty(STDERR_FILENO))
        return;
    runs = true;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &was);
    if (!pthread_create(&thread, NULL, keep_up_to_date, NULL)) {
        pthread_detach(thread);
        pgk_progress_work(verb->name);
        atexit(end);
    }
    pthread_sigmask(SIG_SETMASK, &was, NULL);
}
