/* After counted_calls.c: a clone whose cold part lies elsewhere, which gcc 12 makes of it since k
   is always 3. */
__attribute__((cold, noinline)) void bad(int v) { sink ^= v; }
__attribute__((noinline)) static int cloned(int v, int k) {
    if (v < 0) {
        bad(v);
        bad(sink * v);
        return sink;
    }
    return v * k ^ sink;
}
int main(int argc, char **argv) {
    for (int i = 0; i < 3000; i++)
        sink += f(i) + apply(i % 9 ? times : mixed, 20) + cloned(i - argc, 3);
    return never(argc) == 1;
}
