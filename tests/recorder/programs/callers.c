/* A function that takes another way for each of its two callers, and is called through a third.
 * usage: callers ROUNDS */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned work(unsigned x, unsigned often)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 20; i++)
        if ((x + i) % 8 < often)
            sum += x * 2654435761u >> 7;
        else
            sum ^= i;
    return sum;
}

__attribute__((noinline)) static unsigned between(unsigned x, unsigned often)
{
    return work(x, often) + 1;
}

__attribute__((noinline)) static unsigned first(unsigned x)
{
    return between(x, 7) * 3;
}

__attribute__((noinline)) static unsigned second(unsigned x)
{
    return between(x, 1) ^ 5;
}

static int compare(const void *a, const void *b)
{
    const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (int)((work(x, 4) & 0) + (x > y)) - (x < y);
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
    unsigned sum = 0, numbers[64];
    for (unsigned i = 0; i < rounds; i++) {
        sum += first(i);
        if (i % 4 == 0)
            sum += second(i);
        if (i % 1000 == 0) {
            for (unsigned k = 0; k < 64; k++)
                numbers[k] = (i + k) * 2654435761u;
            qsort(numbers, 64, sizeof *numbers, compare);
            sum += numbers[7];
        }
    }
    printf("%u\n", sum);
    return 0;
}
