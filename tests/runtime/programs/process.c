/* What processes do besides allocating: fork, threads, dumps, signals, dying.
 *
 * usage: process fork | dump | signals | churn THREADS | reset | overrun
 *        process descend DEPTH
 *        process exec | tail | triggers DUMPS MEBIBYTES PROFILE
 *        process starve | fault | crash
 *        process die | rename FROM TO
 *        process chroot-child FOLDER
 *        process moved THREADS
 *        process chdir | chroot | chroot-alike | closing | sandbox
 *        process allow-prctl | allow-syscall | no-ticks | strict */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_open /* newer processors have openat alone */
#define SYS_open SYS_openat
#endif

int __memprof_profile_dump(void) __attribute__((weak));
void __memprof_profile_reset(void) __attribute__((weak));

#define SITE(name)                                       \
    __attribute__((noinline)) volatile char *name(void); \
    volatile char *name(void)                            \
    {                                                    \
        volatile char *p = malloc(24);                   \
        __asm__ volatile("" ::: "memory");               \
        return p;                                        \
    }

SITE(in_parent)
SITE(in_child)
SITE(before)
SITE(after)
SITE(in_handler)
SITE(in_main)

static int forking(void)
{
    volatile char *mine = in_parent();
    mine[0] = 1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < 10; i++) {
            volatile char *p = in_child();
            p[0] = 1;
            if (i % 2)
                free((void *)p);
        }
        free((void *)mine);
        return 0;
    }
    int status;
    waitpid(child, &status, 0);
    mine[1] = 1;
    free((void *)mine);
    printf("%d\n", child);
    return status;
}

/* Each child forks the next one, and frees one of the objects that the first process made. */
static int descending(int depth)
{
    volatile char *old[64];
    int status = 0;
    if (depth < 1 || depth >= 64)
        return 2;
    for (int i = 0; i <= depth; i++)
        old[i] = in_parent();
    for (int i = 0; i <= depth; i++) {
        old[i][0] = 1;
        free((void *)old[i]);
        for (int object = 0; object < 3; object++)
            in_child()[0] = 1;
        pid_t child = i < depth ? fork() : -1;
        if (child) {
            if (child > 0)
                waitpid(child, &status, 0);
            return status != 0;
        }
    }
    return 0;
}

/* Writes beyond objects of all small sizes, over what is in the same granule. */
static int overrunning(void)
{
    for (size_t n = 1; n <= 248; n++) {
        volatile char *p = malloc(n);
        const size_t end = (n + 63) / 64 * 64;
        for (size_t at = n; at < end; at++)
            p[at] = (char)(at * 37);
        __asm__ volatile("" ::: "memory");
        free((void *)p);
    }
    free((void *)after());
    return 0;
}

static int dumping(int reset)
{
    volatile char *old = before();
    old[0] = 1;
    free((void *)before());
    if (__memprof_profile_dump())
        return 1;
    if (reset)
        __memprof_profile_reset();
    free((void *)after());
    free((void *)after());
    if (__memprof_profile_dump())
        return 1;
    free((void *)old);
    free((void *)after());
    return 0;
}

/* Counts of what was freed are in the file at every moment. */
static int dying(void)
{
    volatile char *p = before();
    p[0] = p[1] = p[2] = 1;
    free((void *)p);
    return raise(SIGKILL);
}

/* What a program does that keeps each dump as a file of its own. */
static int renaming(const char *from, const char *to)
{
    free((void *)before());
    volatile char *alive = in_main();
    if (!__memprof_profile_dump || __memprof_profile_dump() || rename(from, to))
        return 1;
    __memprof_profile_reset();
    alive[0] = 1;
    free((void *)after());
    if (__memprof_profile_dump())
        return 1;
    free((void *)alive);
    free((void *)after());
    return 0;
}

static volatile sig_atomic_t handled;

static void handler(int sig)
{
    (void)sig;
    volatile char *p = in_handler(), *q = malloc(5000);
    p[0] = 1;
    q[4999] = 1;
    free((void *)p);
    free((void *)q);
    handled++;
}

static int signalling(void)
{
    struct itimerval timer = {{0, 200}, {0, 200}};
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (long i = 0; handled < 200 && i < 100000000; i++) {
        volatile char *p = in_main();
        p[0] = 1;
        free((void *)p);
    }
    timer = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    return handled < 200;
}

enum { KEPT = 7, HANDED_OVER = 2 };
struct churner {
    volatile char *handed_over[HANDED_OVER];
    volatile char ready;
};

static void *churn(void *arg)
{
    struct churner *self = arg;
    for (int i = 0; i < KEPT; i++) {
        volatile char *p = in_child();
        if (i < HANDED_OVER)
            self->handed_over[i] = p;
    }
    for (uint64_t i = 0;; i++) {
        volatile char *p = in_main();
        p[i % 24] = 1;
        free((void *)p);
        if (i == 1000)
            self->ready = 1;
    }
    return NULL;
}

/* Until it is killed. Alive then are 5 objects of before(), KEPT - HANDED_OVER of in_child() for
 * each thread, and what is in flight of in_main(). Those of in_parent() were so at a dump. */
static int churning(int threads)
{
    static struct churner all[64];
    pthread_t id;
    for (int i = 0; i < 4; i++)
        in_parent();
    volatile char *old = in_parent();
    if (__memprof_profile_dump())
        return 1;
    free((void *)old);
    for (int i = 0; i < 5; i++)
        before()[0] = 1;
    for (int i = 0; i < threads; i++)
        pthread_create(&id, NULL, churn, &all[i]);
    for (int i = 0; i < threads; i++) {
        while (!all[i].ready)
            usleep(100);
        for (int j = 0; j < HANDED_OVER; j++)
            free((void *)all[i].handed_over[j]);
    }
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}

/* Objects from ever new stacks, as far as memory goes; they are a list. */
__attribute__((noinline)) void **starved(void **list, int turns, long *n);
void **starved(void **list, int turns, long *n)
{
    void **p = malloc(64);
    if (!p)
        return list;
    *p = list;
    ++*n;
    if (turns % 2)
        list = starved(p, turns / 2, n);
    else
        list = turns ? starved(p, turns / 2, n) : p;
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return list;
}

/* There is none left for the program nor for the runtime, then there is again. */
static int starving(void)
{
    struct rlimit old, less;
    long pages = 0, n = 0, before_turn = -1;
    void **list = NULL;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld", &pages) != 1 || getrlimit(RLIMIT_AS, &old))
        return 2;
    fclose(statm);
    free((void *)before());
    less = old;
    less.rlim_cur = (rlim_t)pages * 4096 + (3 << 20);
    if (setrlimit(RLIMIT_AS, &less))
        return 2;
    for (int turns = 1; n != before_turn; turns++) {
        before_turn = n;
        list = starved(list, turns, &n);
    }
    while (list) {
        void **next = *list;
        free(list);
        list = next;
    }
    setrlimit(RLIMIT_AS, &old);
    free((void *)after());
    printf("%ld\n", n);
    return 0;
}

static int executing(char *self)
{
    volatile char *old = before();
    old[0] = 1;
    free((void *)before());
    if (execlp("no-such-program-anywhere", "x", NULL) != -1 || errno != ENOENT)
        return 3;
    free((void *)after());
    volatile char *p = in_parent();
    p[0] = p[1] = 1;
    return execl(self, self, "tail", NULL);
}

/* Dumps in a file, with the sheet behind them that the only thread has. */
static int dumps_in(const char *profile)
{
    uint64_t at = 0, header[3];
    int dumps = 0;
    const int fd = open(profile, O_RDONLY);
    for (; pread(fd, header, sizeof header, (off_t)at) == sizeof header; at += header[2])
        dumps++;
    close(fd);
    return dumps;
}

/* Signals itself, goes on until its profile has so many more dumps, however long that takes, and
 * grows. Prints how many objects it made meanwhile, and the ms that all took. */
static int triggering(int dumps, int mebibytes, const char *profile)
{
    struct timespec begin, end;
    volatile char *old = before();
    long n = 0;
    old[0] = 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < 3; i++) {
        raise(SIGUSR2);
        free((void *)after());
    }
    const int all = dumps_in(profile) + dumps;
    for (; dumps_in(profile) < all; n++)
        free((void *)in_main());
    for (int i = 0; i < mebibytes; i++) {
        volatile char *p = malloc(1 << 20);
        p[0] = 1;
        free((void *)in_child());
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%ld %ld\n", n,
           (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000);
    return 0;
}

/* 2^depth contexts of one object each. */
__attribute__((noinline)) void many(int depth);
void many(int depth)
{
    if (!depth) {
        free((void *)in_main());
        return;
    }
    many(depth - 1);
    __asm__ volatile("nop" ::: "memory");
    many(depth - 1);
    __asm__ volatile("" ::: "memory");
}

/* From here on a call that opens a file kills. */
static int sandbox(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* From here on every call kills but those that a program makes which has all that it needs. */
static int allow(bool by_prctl)
{
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_exit), ALLOW(SYS_exit_group),
        ALLOW(SYS_brk), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_futex),
        ALLOW(SYS_clock_nanosleep),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           (by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                     : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                               &program));
}

static void *idle(void *arg)
{
    free((void *)malloc(100));
    *(volatile int *)arg = 1;
    for (;;)
        usleep(1000);
    return NULL;
}

/* While another thread lives that has allocated. */
static int allow_beside_thread(bool by_prctl)
{
    static volatile int ready;
    pthread_t id;
    if (pthread_create(&id, NULL, idle, (void *)&ready))
        return 3;
    while (!ready)
        usleep(100);
    return allow(by_prctl);
}

/* Nothing is left but reading, writing and the end, and the time stamp counter is a fault. */
static int strictly(void)
{
    for (int i = 0; i < 1000; i++)
        free((void *)before());
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
        return 77;
    for (int i = 0; i < 1000; i++)
        free((void *)after());
    return (int)syscall(SYS_exit, 0);
}

/* Every descriptor is closed and belongs to a file of the program then. */
static int closing(void)
{
    char name[32];
    struct stat file;
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (int fd = 3; fd < 300; fd++) {
        snprintf(name, sizeof name, "own.%d", fd);
        if (open(name, O_RDWR | O_CREAT, 0600) != fd)
            return 3;
    }
    many(12);
    for (int fd = 3; fd < 300; fd++)
        if (fstat(fd, &file) || file.st_size)
            return 4;
    return 0;
}

/* Takes itself away from where the profile is, between an object's begin and its end. */
static int leaving(const char *what)
{
    volatile char *p = before();
    p[0] = 1;
    int failed = !strcmp(what, "chdir")           ? chdir("/")
                 : !strcmp(what, "chroot")        ? chroot("/proc") || chdir("/")
                 : !strcmp(what, "chroot-alike")  ? chroot("alike") || chdir("/")
                 : !strcmp(what, "sandbox")       ? sandbox()
                 : !strcmp(what, "allow-prctl")   ? allow_beside_thread(true)
                 : !strcmp(what, "allow-syscall") ? allow_beside_thread(false)
                 : !strcmp(what, "no-ticks")      ? prctl(PR_SET_TSC, PR_TSC_SIGSEGV)
                                                  : closing();
    if (failed)
        return failed < 0 ? 77 : failed;
    p[1] = 1;
    many(10);
    volatile char *q = after();
    q[0] = 1;
    return 0;
}

static int on_cpu(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one);
}

static void *free_it(void *object)
{
    free(object);
    return NULL;
}

/* Goes to another CPU between an object's begin and its end; before, threads come and go. */
static int moving(int threads)
{
    cpu_set_t may;
    int cpus[2], n = 0;
    pthread_t id;
    if (sched_getaffinity(0, sizeof may, &may))
        return 2;
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET(cpu, &may))
            cpus[n++] = cpu;
    if (n < 2)
        return 77;
    for (int i = 1; i < threads; i++)
        if (pthread_create(&id, NULL, free_it, malloc(10)) || pthread_join(id, NULL))
            return 2;
    for (int i = 0; i < 100; i++) {
        if (on_cpu(cpus[0]))
            return 2;
        volatile char *p = before();
        p[0] = 1;
        if (on_cpu(cpus[1]))
            return 2;
        free((void *)p);
    }
    return 0;
}

/* A child that allocates when it has another root directory. */
static int leaving_in_child(const char *root)
{
    free((void *)before());
    pid_t child = fork();
    if (child)
        return waitpid(child, NULL, 0) < 0;
    if (chroot(root) || chdir("/"))
        return 77;
    free((void *)in_child());
    return 0;
}

/* What it does about faults of its own, beside those of the runtime. */
SITE(faulty)
static sigjmp_buf back;

static void leave(int sig)
{
    siglongjmp(back, sig);
}

static void leave_with_info(int sig, siginfo_t *info, void *context)
{
    (void)context;
    siglongjmp(back, info->si_addr ? sig : 1);
}

static int write_nowhere(void)
{
    static volatile int *volatile nowhere = (volatile int *)4096;
    int sig = sigsetjmp(back, 1);
    if (!sig)
        *nowhere = 1;
    return sig;
}

static int faulting(bool crash)
{
    struct sigaction to = {.sa_sigaction = leave_with_info, .sa_flags = SA_SIGINFO}, old;
    volatile char *p = faulty();
    p[0] = 1;
    if (crash) {
        free((void *)p);
        return write_nowhere();
    }
    if (sigaction(SIGSEGV, &to, &old) || old.sa_handler != SIG_DFL || write_nowhere() != SIGSEGV)
        return 1;
    printf("handled, ");
    if (signal(SIGSEGV, leave) == SIG_ERR || write_nowhere() != SIGSEGV)
        return 1;
    printf("handled, ");
    p[1] = 1;
    free((void *)p);
    if (signal(SIGSEGV, SIG_DFL) != leave || signal(NSIG + 1, leave) != SIG_ERR)
        return 1;
    printf("as before\n");
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "fork"))
        return forking();
    if (!strcmp(what, "descend") && argc > 2)
        return descending(atoi(argv[2]));
    if (!strcmp(what, "overrun"))
        return overrunning();
    if (!strcmp(what, "dump") || !strcmp(what, "reset"))
        return dumping(what[0] == 'r');
    if (!strcmp(what, "die"))
        return dying();
    if (!strcmp(what, "rename") && argc > 3)
        return renaming(argv[2], argv[3]);
    if (!strcmp(what, "exec"))
        return executing(argv[0]);
    if (!strcmp(what, "tail"))
        free((void *)in_child());
    if (!strcmp(what, "triggers") && argc > 4)
        return triggering(atoi(argv[2]), atoi(argv[3]), argv[4]);
    if (!strcmp(what, "starve"))
        return starving();
    if (!strcmp(what, "fault") || !strcmp(what, "crash"))
        return faulting(!strcmp(what, "crash"));
    if (!strcmp(what, "moved") && argc > 2)
        return moving(atoi(argv[2]));
    if (!strcmp(what, "chroot-child") && argc > 2)
        return leaving_in_child(argv[2]);
    if (!strcmp(what, "strict"))
        return strictly();
    if (!strcmp(what, "signals"))
        return signalling();
    if (!strcmp(what, "churn"))
        return churning(argc > 2 ? atoi(argv[2]) : 2);
    return strcmp(what, "tail") ? leaving(what) : 0;
}
