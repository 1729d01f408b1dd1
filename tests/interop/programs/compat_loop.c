/* A loop of ROUNDS calls of a function with a branch. */
int sink;
__attribute__((noinline)) int times(int v) { return v * 3 + 1; }
__attribute__((noinline)) int f(int c) {
    sink += c;
    if (c & 1)
        sink ^= times(c);
    else
        sink--;
    return sink;
}
int main(int argc, char **argv) {
    for (long i = 0; i < ROUNDS; i++)
        sink += f(i);
    return sink == 7;
}
