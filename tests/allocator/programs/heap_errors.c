/* heap_errors WHAT: what a heap does not allow, or what it says of itself; then "survived". */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *what, const char *name)
{
    return !strcmp(what, name);
}

static void twice(size_t n)
{
    char *volatile p = malloc(n);
    free(p);
    free(p);
}

static void inside(size_t n, size_t off)
{
    char *volatile p = malloc(n);
    free(p + off);
}

static void later(void)
{
    char *volatile p = malloc(40);
    for (int i = 0; i < 20000; i++)
        free(malloc(40));
    free(p);
    for (int i = 0; i < 300; i++)
        free(malloc(41));
    free(p);
}

/* What was free and is not written to is freed again, by no error. */
static void untouched(void)
{
    enum { N = 3000 };
    static void *objects[N];
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < N; i++)
            switch (i % 5) {
            case 0: objects[i] = malloc((size_t)(i * 7 % 20000)); break;
            case 1: objects[i] = calloc((size_t)(i / 5 % 12), 1); break;
            case 2: objects[i] = aligned_alloc(64, (size_t)(i * 5 % 9000)); break;
            case 3: objects[i] = realloc(malloc((size_t)(i % 40000)), 1); break;
            default: objects[i] = realloc(malloc(1), (size_t)(i * 11 % 40000 + 1));
            }
        for (int i = 0; i < N; i++)
            free(objects[i * 7 % N]);
    }
}

static void pairs(long n, size_t bytes)
{
    for (long i = 0; i < n; i++) {
        char *volatile p = malloc(bytes);
        free(p);
    }
}

/* All are marked as free one after the other, given out, and freed by threads that end. */
static void *of_thread(void *of_others)
{
    enum { N = 400 };
    static __thread void *objects[N];
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < N; i++)
            objects[i] = malloc((size_t)(i * 8 % 4200));
        for (int i = N; i--;)
            free(objects[i]);
    }
    free(of_others);
    return malloc(48);
}

static void threads(void)
{
    enum { N = 40 };
    void *given = malloc(48);
    for (int i = 0; i < N; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, of_thread, given) || pthread_join(t, &given))
            exit(8);
    }
    free(given);
}

static int honest(void)
{
    char *p = malloc((size_t)40 << 40);
    if (p || errno != ENOMEM || calloc(1, (size_t)40 << 40))
        return 3;
    const struct mallinfo2 before = mallinfo2();
    p = malloc(64 << 20);
    memset(p, 1, 64 << 20);
    const struct mallinfo2 then = mallinfo2();
    if (then.uordblks - before.uordblks < 64 << 20 || then.arena < then.uordblks)
        return 4;
    if (mallinfo().uordblks < 64 << 20)
        return 5;
    free(p);
    if (mallinfo2().uordblks > then.uordblks - (64 << 20))
        return 6;
    malloc_trim(0);
    if (mallinfo2().keepcost > 1 << 20 || malloc_info(0, stdout))
        return 7;
    malloc_stats();
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    char local[64], *volatile p = local;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (is(what, "twice"))
        twice((size_t)atol(argv[2]));
    else if (is(what, "inside"))
        inside((size_t)atol(argv[2]), (size_t)atol(argv[3]));
    else if (is(what, "later"))
        later();
    else if (is(what, "stack"))
        free(p + 16);
    else if (is(what, "wild"))
        free((void *)0x1234560);
    else if (is(what, "moved")) {
        p = malloc(64);
        free(p);
        p = realloc(p, 100);
    } else if (is(what, "untouched")) {
        untouched();
        threads();
    } else if (is(what, "pairs"))
        pairs(atol(argv[2]), (size_t)atol(argv[3]));
    else if (is(what, "honest") && honest())
        return honest();
    puts("survived");
    return 0;
}
