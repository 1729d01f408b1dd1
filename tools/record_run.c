/* Runs the program that is recorded, as if it had been started without us. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Signals that are sent to pgokit but meant for the program. */
static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM,
                                SIGUSR1, SIGUSR2, SIGWINCH, SIGALRM};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static volatile sig_atomic_t child, caught;

/* Signals of the terminal reach the program directly. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    caught = number;
    if (child > 0 && info->si_code <= 0)
        kill((pid_t)child, number);
    errno = saved;
}

struct saved_signals {
    sigset_t mask;
    struct sigaction actions[PASSED_ON], of_child;
};

/* Held back until the child's number is known. What is ignored stays so, as nohup wants. */
static void catch_signals(struct saved_signals *saved)
{
    struct sigaction catch = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t block;
    sigfillset(&catch.sa_mask);
    sigemptyset(&block);
    for (int i = 0; i < PASSED_ON; i++)
        sigaddset(&block, passed_on[i]);
    sigprocmask(SIG_BLOCK, &block, &saved->mask);
    /* The parent may have set it to be ignored; then there would be nothing to wait for. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &saved->of_child);
    for (int i = 0; i < PASSED_ON; i++) {
        sigaction(passed_on[i], NULL, &saved->actions[i]);
        if (saved->actions[i].sa_handler != SIG_IGN)
            sigaction(passed_on[i], &catch, NULL);
    }
}

static void restore_signals(const struct saved_signals *saved)
{
    for (int i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i], &saved->actions[i], NULL);
    sigaction(SIGCHLD, &saved->of_child, NULL);
    sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

/* Runs in the child: starts the program, or reports why it cannot. */
static _Noreturn void start(const char *program, char **argv, const struct saved_signals *saved,
                            int channel)
{
    restore_signals(saved);
    signal(SIGXFSZ, SIG_DFL); /* which main() ignores */
    execv(program, argv);
    int why = errno;
    if (write(channel, &why, sizeof why) != sizeof why)
        why = 0;
    _exit(EXIT_NOT_EXECUTABLE);
}

double record_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Ends it when its time is over, and by force if that does not help. */
static void keep_to(const struct record_limit *limit, double started, struct record_ended *ended)
{
    const double over = record_now_s() - started - limit->seconds;
    if (over < 0 || (ended->is_over_time && over < limit->grace_s))
        return;
    limit->end(ended->is_over_time ? SIGKILL : SIGTERM);
    ended->is_over_time = true;
}

static void wait_for(const struct record_limit *limit, double started, struct record_ended *ended)
{
    const struct timespec step = {0, 10 * 1000 * 1000};
    int status = 0, pid;
    while ((pid = wait4(ended->pid, &status, limit ? WNOHANG : 0, &ended->usage)) == 0 ||
           (pid < 0 && errno == EINTR))
        if (limit) {
            nanosleep(&step, NULL);
            keep_to(limit, started, ended);
        }
    ended->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ended->exit_code = ended->signal ? 128 + ended->signal : WEXITSTATUS(status);
}

bool record_run_for(const char *program, char **argv, const struct record_limit *limit,
                    struct record_ended *ended)
{
    struct saved_signals saved;
    int channel[2], why = 0;
    *ended = (struct record_ended){0};
    if (pipe2(channel, O_CLOEXEC))
        return false;
    caught = 0;
    catch_signals(&saved);
    double started = record_now_s();
    ended->pid = fork();
    if (!ended->pid)
        start(program, argv, &saved, channel[1]);
    why = ended->pid < 0 ? errno : 0;
    close(channel[1]);
    if (!why) {
        child = ended->pid;
        sigprocmask(SIG_SETMASK, &saved.mask, NULL);
        if (read(channel[0], &why, sizeof why) != sizeof why)
            why = 0;
        wait_for(limit, started, ended);
        child = 0;
    }
    close(channel[0]);
    ended->wall_s = record_now_s() - started;
    restore_signals(&saved);
    ended->caught = (int)caught;
    errno = why;
    return !why;
}

bool record_run(const char *program, char **argv, struct record_ended *ended)
{
    return record_run_for(program, argv, NULL, ended);
}

double record_cpu_s(const struct record_ended *ended)
{
    const struct timeval user = ended->usage.ru_utime, kernel = ended->usage.ru_stime;
    return (double)(user.tv_sec + kernel.tv_sec) + (double)(user.tv_usec + kernel.tv_usec) / 1e6;
}
