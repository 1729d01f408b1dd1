/* malloc and free from a stack of ten frames, again and again, in some threads at once:
 *
 *   malloc_pairs THREADS PAIRS
 *
 * prints the CPU time of a pair in ns. With no arguments: an empty program. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long pairs;

__attribute__((noinline)) static void work(int depth)
{
    if (depth > 1) {
        work(depth - 1);
        __asm__ volatile("" ::: "memory"); /* no tail call */
        return;
    }
    for (long i = 0; i < pairs; i++) {
        char *volatile object = malloc(48);
        free(object);
    }
}

static void *thread(void *unused)
{
    work(8); /* and this function, and the C library's start of a thread */
    return unused;
}

int main(int argc, char **argv)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    if (argc < 3)
        return 0;
    int n = atoi(argv[1]);
    pairs = atol(argv[2]);
    if (n < 1 || n > MOST)
        return 2;
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, thread, NULL))
            return 1;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    printf("%.2f\n", ns / (double)n / (double)pairs);
    return 0;
}
