/* A function that runs and one that does not. */
__attribute__((noinline)) int parse(int n) { volatile int m = n; return m; }
__attribute__((noinline)) int never(int n) { volatile int m = n; return m + 1; }
int main(int argc, char **argv) { (void)argv; return argc > 5 ? never(argc) : parse(argc); }
