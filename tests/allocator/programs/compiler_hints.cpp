// Objects of two callers that allocate through one function, of which those of the one are often
// read and those of the other never; and objects of one call, which are read most. It is C, too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OBJECTS = 4000, SIZE = 240 }; // of one size class

#ifdef __cplusplus
#define NEW(n) new char[n]
#else
#define NEW(n) ((char *)malloc(n))
#endif
#define NOINLINE __attribute__((noinline))

static char *most[OBJECTS], *often[OBJECTS], *rarely[OBJECTS];

char *make(int n);
char *make_most(int n);
char *make_often(int n);
char *make_rarely(int n);

NOINLINE char *make(int n)
{
    return NEW(n);
}

NOINLINE char *make_most(int n)
{
    char *p = NEW(n);
    memset(p, 1, (size_t)n);
    return p;
}

NOINLINE char *make_often(int n)
{
    char *p = make(n);
    memset(p, 1, (size_t)n);
    return p;
}

NOINLINE char *make_rarely(int n)
{
    char *p = make(n);
    *p = 2;
    return p;
}

int main(int argc, char **argv)
{
    long sum = 0;
    struct timespec pause = {0, argc > 1 ? 1000000L * atol(argv[1]) : 0};
    for (int i = 0; i < OBJECTS; i++) {
        most[i] = make_most(SIZE + i % 16);
        often[i] = make_often(SIZE + i % 16);
        rarely[i] = make_rarely(SIZE + i % 16);
    }
    for (int round = 0; round < 50; round++)
        for (int i = 0; i < OBJECTS; i++)
            for (int k = 0; k < SIZE; k++)
                sum += most[i][k] + (round % 10 ? 0 : often[i][k]);
    nanosleep(&pause, NULL);
    printf("%ld\n", sum);
    return sum != 55L * OBJECTS * SIZE;
}
