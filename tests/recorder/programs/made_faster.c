/* Built with -DPLAIN it does more than it has to, calls what else is inlined, has no cold part, and
 * has its two functions in the other order. */
#include <stdio.h>
#include <stdlib.h>

#ifdef PLAIN
#define OFTEN_INLINED __attribute__((noinline))
#define FIRST         __attribute__((noinline))
#define SECOND        __attribute__((noinline, section(".text.later")))
#else
#define OFTEN_INLINED __attribute__((always_inline)) inline
#define FIRST         __attribute__((noinline, section(".text.later")))
#define SECOND        __attribute__((noinline))
#endif

OFTEN_INLINED static unsigned mixed(unsigned x)
{
    for (int i = 0; i < 6; i++)
        x = x * 1664525 + 1013904223 + (x >> 7);
    return x;
}

FIRST static unsigned first(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += mixed(i);
    return sum;
}

#ifndef PLAIN
/* As compilers split it off, if they do, which depends on their release. */
__asm__(".text\n.type second.cold, @function\nsecond.cold: .fill 15, 1, 0x90\nret\n"
        ".size second.cold, . - second.cold\n");
#endif

SECOND static unsigned second(unsigned n)
{
    unsigned sum = 1;
    for (unsigned i = 0; i < n; i++)
        sum ^= mixed(sum + i);
    return sum;
}

#ifdef PLAIN
__attribute__((noinline)) static unsigned wasted(unsigned n)
{
    unsigned sum = 2;
    for (unsigned i = 0; i < 12 * n; i++)
        sum = sum * 3 + i;
    return sum;
}
#endif

int main(int argc, char **argv)
{
    const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned sum = first(n) + second(n);
#ifdef PLAIN
    sum += wasted(n);
#endif
    printf("%u\n", sum);
    return 0;
}
