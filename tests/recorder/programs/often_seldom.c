/* A loop whose two calls run 63 times and once of 64. */
#include <stdio.h>
#include <stdlib.h>
volatile unsigned sink;
__attribute__((noinline)) static unsigned often(unsigned i) { return i * 2654435761u >> 7; }
__attribute__((noinline)) static unsigned seldom(unsigned i) { return i / 7 + i % 11; }
int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    for (unsigned i = 0; i < n; i++)
        sink += i % 64 ? often(i) : seldom(i);
    printf("ran %u\n", n);
    return 0;
}
