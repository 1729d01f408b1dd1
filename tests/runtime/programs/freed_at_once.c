/* Objects that are freed before the next allocation, and some that are not. */
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) void site_0(void)
{
    kept = malloc(24);
    free(kept);
}
__attribute__((noinline)) void site_1(void)
{
    void *volatile p = malloc(24);
    kept = malloc(8);
    free(p);
    free(kept);
}
int main(void)
{
    for (int i = 0; i < 1000; i++) {
        site_0();
        site_1();
    }
    return 0;
}
