/* Commands of the user, and what is said while `pgokit pgo` works. */
#include "pgo.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_S = 10 };

_Noreturn void pgo_stop(const char *fmt, ...)
{
    va_list args;
    fputs("pgokit: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    if (pgo_log_path())
        fprintf(stderr, "pgokit: all that the commands printed is in %s\n", pgo_log_path());
    exit(EXIT_FAILED);
}

void pgo_say(bool quiet, const char *fmt, ...)
{
    va_list args;
    if (quiet)
        return;
    va_start(args, fmt);
    fputs("pgokit: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

/* ---- one command ---- */

static void start(const char *command, double seconds, struct record_ended *ended)
{
    const char *const words[] = {"sh", "-c", command, NULL};
    if (!pgo_log_run_for("/bin/sh", words, true, seconds, ended))
        pgo_stop("cannot run /bin/sh: %s", strerror(errno));
    if (ended->caught == SIGHUP || ended->caught == SIGINT || ended->caught == SIGQUIT ||
        ended->caught == SIGTERM)
        pgo_interrupted(ended->caught);
}

static _Noreturn void failed(const char *what, const char *command,
                             const struct record_ended *ended, const char *hint)
{
    pgo_log_show_end();
    if (ended->signal)
        pgo_stop("%s was ended by signal %d (%s)", what, ended->signal, strsignal(ended->signal));
    pgo_stop("%s failed with exit status %d: %s%s", what, ended->exit_code, command, hint);
}

void pgo_build_shell(const char *what, const char *command,
                     const char *(*hint)(const struct pgo_builder *builder),
                     const struct pgo_builder *builder)
{
    struct record_ended ended;
    start(command, 0, &ended);
    if (ended.signal || ended.exit_code)
        failed(what, command, &ended, hint ? hint(builder) : "");
    (void)pgo_end_children(GRACE_S, NULL); /* such as a server of a cache, with our flags */
}

bool pgo_try_build(const char *command)
{
    struct record_ended ended;
    start(command, 0, &ended);
    (void)pgo_end_children(GRACE_S, NULL);
    return !ended.signal && !ended.exit_code;
}

/* ---- loads ---- */

static struct {
    bool expected[256];
    const char *service; /* runs while the command does, and its time is taken */
    bool has_said_left;
} load;

void pgo_expect_exit(unsigned long status)
{
    load.expected[status & 255] = true;
}

void pgo_measure_service(const char *command)
{
    load.service = command;
}

/* The load is over when its command is, also if processes that it started still run. */
static void end_rest(struct record_ended *ended)
{
    struct rusage used = ended->usage;
    size_t left = pgo_end_children(GRACE_S, &used);
    ended->usage = used;
    if (left && !load.has_said_left) {
        load.has_said_left = true;
        pgo_say(false,
                "%zu process%s still ran after the command, and %s ended. If this is a "
                "service, let --run run it in the foreground and give --for 60s",
                left, left == 1 ? "" : "es", left == 1 ? "was" : "were");
    }
}

static bool ended_well(const struct record_ended *ended)
{
    return !ended->signal && (!ended->exit_code || load.expected[ended->exit_code & 255]);
}

static void check_load(const char *what, const char *command, const struct record_ended *ended)
{
    char hint[256] = "";
    if (ended_well(ended))
        return;
    if (ended->exit_code != 126 && ended->exit_code != 127)
        snprintf(hint, sizeof hint,
                 "\npgokit: if it ends so when all is well, give --expect-exit "
                 "%d",
                 ended->exit_code);
    failed(what, command, ended, hint);
}

/* Processor time of the service, while the command uses it. */
static void with_service(const char *what, const char *command, struct record_ended *ended)
{
    struct record_ended client;
    pid_t server = fork();
    if (server < 0)
        pgo_stop("cannot start a process: %s", strerror(errno));
    if (!server) {
        pgo_log_redirect();
        execl("/bin/sh", "sh", "-c", load.service, (char *)NULL);
        _exit(127);
    }
    start(command, 0, &client);
    const bool runs = !kill(server, 0) && pgo_signal_children(0) > 0;
    *ended = client;
    ended->usage = (struct rusage){0};
    (void)pgo_end_children(GRACE_S, &ended->usage);
    check_load(what, command, &client);
    if (!runs)
        pgo_stop("the service of --run ended while %s ran: %s", what, load.service);
}

void pgo_shell(const char *what, const char *command, struct record_ended *ended)
{
    if (load.service) {
        with_service(what, command, ended);
        return;
    }
    start(command, 0, ended);
    check_load(what, command, ended);
    end_rest(ended);
}

bool pgo_try_load(const char *command, struct record_ended *ended)
{
    start(command, 0, ended);
    const bool well = ended_well(ended);
    end_rest(ended);
    return well;
}

void pgo_shell_for(const char *what, const char *command, double seconds,
                   struct record_ended *ended)
{
    start(command, seconds, ended);
    const int sig = ended->signal;
    if (ended->is_over_time && (!sig || sig == SIGTERM || sig == SIGKILL)) {
        (void)pgo_end_children(GRACE_S, &ended->usage);
        return;
    }
    if (!ended->is_over_time && (sig || ended->exit_code))
        pgo_say(false, "the service of --run ended after %.1f s, before the %g s of --for",
                ended->wall_s, seconds);
    check_load(what, command, ended);
    (void)pgo_end_children(GRACE_S, &ended->usage);
}

/* ---- the environment ---- */

char *pgo_saved(const char *name)
{
    const char *value = getenv(name);
    return value ? strdup(value) : NULL;
}

void pgo_put_back(const char *name, char *value)
{
    if (value ? setenv(name, value, 1) : unsetenv(name))
        pgo_stop("out of memory");
    free(value);
}
