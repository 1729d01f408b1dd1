/* Threads that allocate, check what is in their objects, and free, until standard input ends. The
 * main thread sees whether system calls are as in a program that nobody asks; without other threads
 * also whether its descriptors are.
 *
 * usage: served THREADS [fork | exec | seccomp | pthread_exit | closing | setuid]
 * Prints "ready", and at the end "fine"; exits with 1 and says what was wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 128, THREADS_MAX = 64 };

static atomic_bool ending;

static void fail(const char *what)
{
    fprintf(stderr, "served: %s (%s)\n", what, strerror(errno));
    _exit(1);
}

__attribute__((noinline)) static unsigned char *make(size_t n)
{
    return malloc(n);
}

__attribute__((noinline)) static unsigned char *make_zero(size_t n)
{
    return calloc(1, n);
}

static void check(const unsigned char *p, size_t n, unsigned char value)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value)
            fail("an object does not hold what was stored");
}

static void *work(void *seed)
{
    struct { unsigned char *p; size_t n; unsigned char value; } slots[SLOTS] = {0};
    unsigned state = (unsigned)(size_t)seed * 2654435761u + 1;
    while (!ending) {
        state = state * 1103515245 + 12345;
        const unsigned at = state >> 8 & (SLOTS - 1);
        if (slots[at].p && state >> 16 & 1) {
            const size_t n = slots[at].n / 2 + 1;
            slots[at].p = realloc(slots[at].p, n);
            slots[at].n = n < slots[at].n ? n : slots[at].n;
        }
        if (slots[at].p)
            check(slots[at].p, slots[at].n, slots[at].value);
        free(slots[at].p);
        slots[at].n = (state >> 20 & 2047) + 1;
        slots[at].value = (unsigned char)(state >> 12);
        slots[at].p = state & 1024 ? make(slots[at].n) : make_zero(slots[at].n);
        memset(slots[at].p, slots[at].value, slots[at].n);
    }
    for (int i = 0; i < SLOTS; i++)
        free(slots[i].p);
    return NULL;
}

/* One look at what the program can see of itself. */
static void look(int lowest)
{
    const struct timespec pause = {.tv_nsec = 200000};
    free(make(100));
    const int fd = open("/dev/null", O_RDONLY);
    if (lowest >= 0 && fd != lowest)
        fail("open() gave another descriptor than the lowest");
    close(fd);
    if (nanosleep(&pause, NULL))
        fail("nanosleep() was interrupted");
}

static bool input_ended(void)
{
    struct pollfd input = {.events = POLLIN};
    char byte;
    return poll(&input, 1, 0) == 1 && read(0, &byte, 1) <= 0;
}

static void filter_calls(void)
{
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, all};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        fail("seccomp");
}

static void do_what(const char *what, char **argv)
{
    if (!strcmp(what, "seccomp"))
        filter_calls();
    if (!strcmp(what, "setuid") && setuid(65534))
        fail("setuid");
    if (!strcmp(what, "closing"))
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
    if (!strcmp(what, "exec")) {
        char *again[] = {argv[0], argv[1], NULL};
        execv("/nowhere", again); /* fails: the program goes on, and is served on */
        execv(argv[0], again);
        fail("exec");
    }
    if (!strcmp(what, "fork")) {
        const pid_t child = fork();
        if (child < 0)
            fail("fork");
        if (child) {
            int status;
            if (waitpid(child, &status, 0) != child || status)
                fail("the child");
            exit(0);
        }
        for (int i = 0; i < 1000; i++)
            free(make((size_t)i + 1));
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    const int n = argc > 1 ? atoi(argv[1]) : 1;
    do_what(argc > 2 ? argv[2] : "", argv);
    const int lowest = open("/dev/null", O_RDONLY);
    close(lowest);
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(size_t)(i + 1)))
            fail("pthread_create");
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (!input_ended())
        look(n ? -1 : lowest);
    ending = true;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    puts("fine");
    fflush(stdout);
    if (argc > 2 && !strcmp(argv[2], "pthread_exit"))
        pthread_exit(NULL);
    return 0;
}
