// One call that allocates, in a loop that is unrolled.
char *volatile keep;
volatile int n = 4;
int main() {
#pragma clang loop unroll_count(4)
    for (int i = 0; i < 4; i++) { keep = new char[8]; }
    return n - 4;
}
