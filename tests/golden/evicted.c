#include <stdlib.h>
static void *volatile keep;
#define CONTEXT(n) keep = malloc(10 * n + i); free(keep);
__attribute__((noinline)) static void all(int i)
{
    CONTEXT(1) CONTEXT(2) CONTEXT(3) CONTEXT(4) CONTEXT(5)
    CONTEXT(6) CONTEXT(7) CONTEXT(8)
}
int main(void)
{
    for (int i = 0; i < 3; i++)
        all(i);
    return 0;
}
