/* C in two styles: with a nested function where the compiler knows them, and functions
 * with several ranges, an alias and a computed jump. */
volatile int counter;

static inline int step(int x) { counter += x; return counter ^ x; }

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noinline)) static int with_nested(int n)
{
    __attribute__((noinline)) int nested(int x)
    {
        counter += n + step(x);
        return counter;
    }
    int total = 0;
    for (int i = 0; i < n; i++)
        total += nested(i) + step(i);
    return total;
}
#else
__attribute__((noinline)) static int with_nested(int n) { return step(n) + step(n + 1); }
#endif

__attribute__((noinline)) int aliased(int x) { return step(x) - step(-x); }
int other_name(int x) __attribute__((alias("aliased")));

__attribute__((noinline)) static int jumps(int x)
{
    static const void *const to[] = {&&first, &&second, &&third};
    goto *to[(unsigned)x % 3];
first:
    counter += step(1);
second:
    counter += step(2);
third:
    return counter;
}

__attribute__((noinline)) static int switches(int x)
{
    switch (x & 7) {
    case 0: return step(x) + 1; case 1: return step(x) + 2;
    case 2: { int y = step(x); return step(y) * y; }
    case 3: return counter ? step(x) : jumps(x);
    default: break;
    }
    return x;
}

int main(int argc, char **argv)
{
    (void)argv;
    int total = 0;
    for (int i = 0; i < argc + 7; i++)
        total += switches(i) + with_nested(i) + aliased(i) + other_name(i) + jumps(i);
    return total == 12345;
}
