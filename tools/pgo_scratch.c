/* The folder of its own that `pgokit pgo` has while it works. */
#include "pgo.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Removed when we end, unless we are killed. */
static char scratch[PATH_MAX];
static bool has_scratch;

static void remove_scratch(void)
{
    struct record_ended ended;
    const char *const words[] = {"rm", "-rf", scratch, NULL};
    if (has_scratch)
        (void)pgo_log_run("/bin/rm", words, false, &ended);
}

/* While a command runs, signals are passed on to it, and its end is ours. */
static void end_by(int sig)
{
    remove_scratch();
    signal(sig, SIG_DFL);
    raise(sig);
}

const char *pgo_make_scratch(void)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
    const struct sigaction ours = {.sa_handler = end_by};
    const char *folder = record_environment("TMPDIR");
    struct sigaction was;
    if ((size_t)snprintf(scratch, sizeof scratch, "%s/pgokit-pgo-XXXXXX",
                         *folder ? folder : "/tmp") < sizeof scratch)
        has_scratch = mkdtemp(scratch) != NULL;
    if (!has_scratch || atexit(remove_scratch))
        pgo_stop("cannot make a folder in %s: %s", *folder ? folder : "/tmp", strerror(errno));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!sigaction(ends[i], NULL, &was) && was.sa_handler != SIG_IGN)
            sigaction(ends[i], &ours, NULL);
    return scratch;
}
