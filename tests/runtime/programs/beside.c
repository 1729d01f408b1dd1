/* For other instrumentation beside counting. Ten volatile accesses to each object that input()
 * allocates; an overflow that UBSan reports if there is an argument. With TRACED it counts the
 * blocks that main() enters. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) int input(const uint8_t *data, size_t n);

int input(const uint8_t *data, size_t n)
{
    volatile int *p = malloc(64);
    if (!p)
        return 0;
    for (int i = 0; i < 9; i++)
        p[i] = n > (size_t)i ? data[i] : i;
    int last = p[8];
    free((void *)p);
    return last;
}

static volatile unsigned long blocks;

#ifdef TRACED
/* What the kernel does for kcov. */
void __sanitizer_cov_trace_pc(void);

#ifdef __clang__
__attribute__((no_sanitize("coverage")))
#else
__attribute__((no_sanitize_coverage))
#endif
void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}
#endif

int main(int n, char **arguments)
{
    (void)arguments;
    blocks = 0; /* those of constructors */
    for (int i = 0; i < 100; i++)
        input((const uint8_t *)"text", (size_t)(i % 5));
    volatile int most = n > 1 ? INT_MAX : 0;
    most = most + 1;
    printf("%lu blocks\n", blocks);
    return 0;
}
