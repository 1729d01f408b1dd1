/* A library that bolt.c calls, with a function of two paths. */
static volatile int sink;
__attribute__((noinline)) static int step(int x) { return x % 3 ? x + sink : x * 2; }
int library(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += step(i);
    return s;
}
