/* Rounds that end with a dump. In each of them one object of kept() is made, which lives on, three
 * of freed(), and one each of 2^DEPTH contexts. What rounds have started and ended, and whether a
 * dump is being written, is in COUNTERS: three u64, in memory that outlives the process.
 *
 * usage: dumped COUNTERS THREADS DEPTH [step]    threads that allocate meanwhile; a round for each
 *                                                line of the standard input, or until it is killed
 * With the line `small` there is one of those contexts. With `fork` it forks first; a child makes
 * five objects of in_child() and ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int __memprof_profile_dump(void) __attribute__((weak));

#define SITE(name)                                       \
    __attribute__((noinline)) volatile char *name(void); \
    volatile char *name(void)                            \
    {                                                    \
        volatile char *p = malloc(24);                   \
        __asm__ volatile("" ::: "memory");               \
        return p;                                        \
    }

SITE(kept)
SITE(freed)
SITE(in_many)
SITE(in_thread)
SITE(in_child)

enum { STARTED, ENDED, DUMPING, COUNTERS };

__attribute__((noinline)) void many(int depth);
void many(int depth)
{
    if (!depth) {
        free((void *)in_many());
        return;
    }
    many(depth - 1);
    __asm__ volatile("nop" ::: "memory");
    many(depth - 1);
    __asm__ volatile("" ::: "memory");
}

static void *churn(void *ready)
{
    for (;;) {
        free((void *)in_thread());
        *(volatile int *)ready = 1;
    }
    return NULL;
}

static int round_of(volatile uint64_t *counters, int depth)
{
    counters[STARTED]++;
    kept()[0] = 1;
    for (int i = 0; i < 3; i++)
        free((void *)freed());
    many(depth);
    counters[DUMPING] = 1;
    const int bad = __memprof_profile_dump();
    counters[DUMPING] = 0;
    counters[ENDED]++;
    return bad;
}

static int forked(void)
{
    int status = 1;
    const pid_t child = fork();
    if (child) {
        waitpid(child, &status, 0);
        return status;
    }
    for (int i = 0; i < 5; i++)
        free((void *)in_child());
    exit(0);
}

int main(int argc, char **argv)
{
    static int ready[64];
    static char line[64];
    if (argc < 4 || !__memprof_profile_dump)
        return 2;
    const int fd = open(argv[1], O_RDWR | O_CREAT, 0600), threads = atoi(argv[2]),
              depth = atoi(argv[3]);
    if (fd < 0 || ftruncate(fd, COUNTERS * sizeof(uint64_t)) || threads > 64)
        return 2;
    volatile uint64_t *counters = mmap(NULL, COUNTERS * sizeof *counters, PROT_READ | PROT_WRITE,
                                       MAP_SHARED, fd, 0);
    if (counters == MAP_FAILED)
        return 2;
    close(fd);
    for (int i = 0; i < threads; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, churn, &ready[i]))
            return 2;
        while (!*(volatile int *)&ready[i])
            usleep(100);
    }
    setvbuf(stdin, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("ready");
    if (argc == 4)
        for (;;)
            round_of(counters, depth);
    while (fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, "fork\n") && forked())
            return 3;
        puts(round_of(counters, strcmp(line, "small\n") ? depth : 0) ? "no dump" : "dump");
    }
    return 0;
}
