// Waits for signals in each way that takes a set of them, which may have all in it. Prints which
// came; another one than those that it sends itself would be the recorder's.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <threads.h>
#include <unistd.h>

static volatile unsigned long result;

static int spin(void *seed)
{
    unsigned long h = (unsigned long)seed;
    for (int i = 0; i < 100000000; i++)
        h = h % 3 ? h * 33 + 1 : h / 3;
    result = h;
    return 0;
}

int main(void)
{
    sigset_t all;
    struct signalfd_siginfo from_file;
    siginfo_t info;
    thrd_t thread;
    int first, second, third;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (thrd_create(&thread, spin, (void *)7) != thrd_success)
        return 1;
    kill(getpid(), SIGUSR1);
    sigwait(&all, &first);
    kill(getpid(), SIGUSR2);
    second = sigwaitinfo(&all, &info);
    kill(getpid(), SIGUSR1);
    third = sigtimedwait(&all, &info, &(struct timespec){60, 0});
    kill(getpid(), SIGUSR2);
    const int fd = signalfd(-1, &all, SFD_CLOEXEC);
    if (read(fd, &from_file, sizeof from_file) != sizeof from_file)
        return 2;
    printf("%d %d %d %u\n", first, second, third, from_file.ssi_signo);
    thrd_join(thread, NULL);
    return 0;
}
