/* Pairs of malloc and free: malloc_pairs BYTES PAIRS THREADS prints the ns that one takes. Before each pair
 * of a batch the allocator is warm. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static size_t bytes;
static unsigned long pairs;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *run(void *arg)
{
    const double from = now_ns();
    for (unsigned long i = 0; i < pairs; i++) {
        char *volatile p = malloc(bytes);
        free(p);
    }
    *(double *)arg = (now_ns() - from) / (double)pairs;
    return NULL;
}

int main(int argc, char **argv)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    double ns[MOST], sum = 0;
    const int n = argc > 3 ? atoi(argv[3]) : 1;
    bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
    pairs = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000000;
    if (n < 1 || n > MOST)
        return 2;
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, run, &ns[i]))
            return 1;
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += ns[i];
    }
    printf("%.2f\n", sum / n);
    return 0;
}
