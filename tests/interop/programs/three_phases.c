/* Three functions that run one after the other; the first one runs once more at the end. */
#include <stdlib.h>
volatile unsigned sink;
__attribute__((noinline)) void third(long n) { for (long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void first(long n) { for (long i = 0; i < n; i++) sink -= i; }
__attribute__((noinline)) void second(long n) { for (long i = 0; i < n; i++) sink ^= i; }
int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1;
    first(n);
    second(n);
    third(n);
    first(n);
    return 0;
}
