/* What an allocation costs: alloc_cost DEPTH THREADS [record]. Objects of two kinds are asked for
 * through DEPTH functions, so that only the call at that depth tells them apart, and freed in turn.
 * Prints nanoseconds of processor time for each allocation with its free. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 24, SIZE = 64, MANY = 20000 };
#define NOINLINE __attribute__((noinline, noclone, no_icf))

static int depth;
static long pairs = 20000000;

/* Each level has a frame of its own. */
static NOINLINE void *down(int levels)
{
    void *p = levels > 1 ? down(levels - 1) : malloc(SIZE);
    __asm__ volatile("" : "+r"(p));
    return p;
}

static NOINLINE void *first(void)
{
    void *p = depth > 1 ? down(depth - 1) : malloc(SIZE);
    __asm__ volatile("" : "+r"(p));
    return p;
}

static NOINLINE void *second(void)
{
    void *p = depth > 1 ? down(depth - 1) : malloc(SIZE);
    __asm__ volatile("" : "+r"(p));
    return p;
}

static void *loop(void *arg)
{
    void *block[BLOCK];
    for (long i = 0; i < pairs / BLOCK; i++) {
        for (int k = 0; k < BLOCK; k += 2) {
            block[k] = first();
            block[k + 1] = second();
        }
        for (int k = 0; k < BLOCK; k++)
            free(block[k]);
    }
    return arg;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* For the profile: all are alive at once. */
static void record(void)
{
    static void *a[MANY], *b[MANY];
    for (int i = 0; i < MANY; i++) {
        a[i] = first();
        b[i] = second();
    }
    for (int i = 0; i < MANY; i++) {
        free(a[i]);
        free(b[i]);
    }
}

int main(int argc, char **argv)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    const int n = argc > 2 ? atoi(argv[2]) : 1;
    depth = argc > 1 ? atoi(argv[1]) : 1;
    if (depth < 1 || n < 1 || n > MOST)
        return 2;
    if (argc > 3) {
        record();
        return 0;
    }
    pairs /= n;
    const double started = seconds();
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, loop, NULL))
            return 1;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("%.2f\n", (seconds() - started) * 1e9 / (double)pairs / n);
    return 0;
}
