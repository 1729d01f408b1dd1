/* Nearly all of its time is in one loop of few lines. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const long times = argc > 1 ? atol(argv[1]) : 600000000;
    unsigned long sum = 1;
    for (long i = 0; i < times; i++)
        sum = sum * 31 + (unsigned long)i;
    printf("%lu\n", sum);
}
