/* A function with a branch, and one that calls through a pointer. */
int sink;
__attribute__((noinline)) static void x(void) { sink++; }
__attribute__((noinline)) static void y(void) { sink--; }
__attribute__((noinline)) int f(int c) {
    sink += c;
    if (c & 1) x(); else y();
    return sink;
}
__attribute__((noinline)) int times(int v) { return v * 3 + 1; }
__attribute__((noinline)) int mixed(int v) { return v ^ 5; }
int apply(int (*fn)(int), int n) {
    int r = 0;
    for (int i = 0; i < n; i++)
        r += fn(i);
    return r;
}
int never(int n) { return n / 3 * sink; }
