/* Functions with an inlined leaf, which call one another. */
#include <stdio.h>
#include <stdlib.h>
volatile long sum;
static int leaf(int n)
{
    int r = 0;
    for (int i = 0; i < n; i++)
        r += i ^ n;
    return r;
}
__attribute__((noinline)) int work(int n)
{
    int r = leaf(n);
    if (n & 1)
        r += abs(n);
    sum += r;
    r -= leaf(n / 2);
    return r;
}
__attribute__((noinline)) int other(int n)
{
    int r = work(n);
    sum ^= r;
    return r + work(n + 1);
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20;
    long t = 0;
    for (int i = 0; i < n; i++)
        t += other(i % 20);
    return t == 42;
}
