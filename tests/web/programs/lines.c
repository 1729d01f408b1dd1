/* Lines that samples stand beside. */
static volatile int sink;

static inline __attribute__((always_inline)) int mix(int n)
{
    return n * 31 + sink;
}

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += mix(i);
    return sum;
}

int main(void) { return work(100) & 1; }
