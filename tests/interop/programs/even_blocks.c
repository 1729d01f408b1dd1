/* A function of one straight block and two ways through a branch. */
volatile int sink, other;
__attribute__((noinline)) void ways(int x) {
    sink = 1;
    if (x % 8)
        sink += 2;
    else
        other *= 3;
    sink = 4;
}
int main(void) {
    for (int i = 0; i < 40000; i++)
        ways(i);
    return 0;
}
