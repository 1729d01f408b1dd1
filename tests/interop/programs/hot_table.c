/* A hot loop with a call through a table and one that is inlined. */
#include <stdio.h>
#include <stdlib.h>
typedef int (*fn)(int);
__attribute__((noinline)) int times(int x) { return x * 3 + 1; }
__attribute__((noinline)) int mixed(int x) { return x ^ 5; }
fn table[2] = {times, mixed};
static int small(int x)
{
    return x > 100 ? x - 100 : x + 7;
}
int hot(int n, int s)
{
    int r = s;
    for (int i = 0; i < n; i++) {
        if (r & 1)
            r = table[i & 1](r);
        else
            r += small(i);
    }
    return r;
}
int main(int c, char **v)
{
    printf("%d\n", hot(c > 1 ? atoi(v[1]) : 1000, c));
    return 0;
}
