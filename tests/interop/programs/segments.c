/* Code in two sections. SEGMENT2 may carry other rights than .text, so that the linker
 * makes two executable segments of them. */
#include <stdlib.h>

#ifndef SEGMENT2
#define SEGMENT2 ".text.second"
#endif
#define SECOND __attribute__((noinline, section(SEGMENT2)))
#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

NOINLINE static char *first(size_t n)
{
    return calloc(n, 2);
}

SECOND char *second(size_t n)
{
    char *p = malloc(n);
    p[0] = 1;
    sink += (unsigned char)p[0];
    return p;
}

SECOND static char *second_calls_first(size_t n)
{
    free(second(n));
    return first(n + 1);
}

NOINLINE static void first_calls_second(int n)
{
    for (int i = 1; i <= n; i++)
        free(second_calls_first((size_t)i * 10));
}

int main(void)
{
    first_calls_second(6);
    char *p = second(100);
    sink += (unsigned char)p[0];
    free(p);
    return 0;
}
