/* A program with a timer of its own, whose signal may be the recorder's, too. It prints the same
 * each time if every expiration reaches it, and nothing else does.
 *
 * usage: own_signal handler|sigwait|sigwaitinfo|sigtimedwait|signalfd|setitimer SIGNAL */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { EXPIRATIONS = 20 };
static volatile int seen, strange;
static int mark;

static unsigned long work(void)
{
    unsigned long steps = 0;
    for (unsigned long i = 1; i < 60000; i++)
        for (unsigned long n = i; n != 1; steps++)
            n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static void handle(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    strange += info->si_code == SI_TIMER && info->si_value.sival_ptr != &mark;
    seen++;
}

/* One expiration, after a while in which the recorder's timer expires, too. */
static void start(timer_t timer)
{
    const struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    timer_settime(timer, 0, &soon, NULL);
}

static void wait_by(const char *how, const sigset_t *set, int sig)
{
    siginfo_t info = {.si_code = SI_TIMER, .si_value.sival_ptr = &mark};
    struct signalfd_siginfo read_info;
    const struct timespec long_time = {.tv_sec = 600};
    int got = 0;
    if (!strcmp(how, "sigwait"))
        sigwait(set, &got);
    else if (!strcmp(how, "sigwaitinfo"))
        got = sigwaitinfo(set, &info);
    else if (!strcmp(how, "sigtimedwait"))
        got = sigtimedwait(set, &info, &long_time);
    else if (read(signalfd(-1, set, SFD_CLOEXEC), &read_info, sizeof read_info) > 0) {
        got = (int)read_info.ssi_signo;
        info.si_value.sival_ptr = (void *)read_info.ssi_ptr;
    }
    handle(got, &info, NULL);
    strange += got != sig;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "handler";
    const int sig = argc > 2 ? atoi(argv[2]) : SIGPROF;
    const struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = sig,
                             .sigev_value.sival_ptr = &mark};
    const int by_handler = !strcmp(how, "handler");
    unsigned long steps = 0;
    timer_t timer;
    sigset_t set;
    if (!strcmp(how, "setitimer")) {
        const struct itimerval period = {{.tv_usec = 1000}, {.tv_usec = 1000}};
        sigaction(sig, &action, NULL);
        setitimer(ITIMER_PROF, &period, NULL);
        while (seen < EXPIRATIONS)
            steps = work();
        printf("%lu steps, the timer expired, %d strange\n", steps, strange);
        return 0;
    }
    sigemptyset(&set);
    sigaddset(&set, sig);
    if (by_handler)
        sigaction(sig, &action, NULL);
    else
        sigprocmask(SIG_BLOCK, &set, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    for (int i = 0; i < EXPIRATIONS; i++) {
        steps += work();
        start(timer);
        if (by_handler)
            while (seen == i)
                continue;
        else
            wait_by(how, &set, sig);
    }
    printf("%lu steps, %d seen, %d strange\n", steps, seen, strange);
}
