/* Half of its steps call a library. */
#include <stdio.h>
extern int library(int n);
__attribute__((noinline)) static int step(int x) { return x & 1 ? library(x % 50) : x; }
int main(void)
{
    int s = 0;
    for (int i = 0; i < 2000; i++)
        s += step(i);
    return printf("%d\n", s) < 0;
}
