/* Two calls of one function that optimisation may merge, a loop that it may unroll, calls in
   place of a return, and a static function of one name in two files. */
#include <stdlib.h>
#include <string.h>
volatile long sum;
int other(int n);
static __attribute__((noinline)) char *mk(int n)
{
    char *p = malloc(n);
    memset(p, 7, n);
    return p;
}
__attribute__((noinline)) void merged(int n, int k)
{
    char *p;
    if (n & 1) {
        sum += k;
        p = mk(n + 1);
    } else {
        sum -= k;
        p = mk(n + 1);
    }
    free(p);
}
__attribute__((noinline)) void unrolled(void)
{
    char *p[4];
    for (int i = 0; i < 4; i++)
        p[i] = mk(32);
    for (int i = 0; i < 4; i++)
        free(p[i]);
}
__attribute__((noinline)) char *sibling(int n)
{
    sum++;
    return mk(n);
}
__attribute__((noinline)) char *twice(int n)
{
    char *p = mk(n);
    /* between */
    free(p);
    return mk(2 * n);
}
int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 1; i < 20; i++)
        merged(i, argc);
    unrolled();
    free(sibling(24));
    free(twice(40));
    return other(argc) == -1;
}
