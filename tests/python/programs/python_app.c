/* Allocates once, and in each frame that it draws if the environment asks for it. */
#include <stdlib.h>
static char *volatile kept;
__attribute__((noinline)) static void *scratch(unsigned long size) { return malloc(size); }
__attribute__((noinline)) int draw_frame(int round)
{
    if (getenv("ALLOCATE")) { kept = scratch(1000); free(kept); }
    return round * 2;
}
int main(void)
{
    int sum = 0;
    kept = scratch(123456);
    free(kept);
    for (int i = 0; i < 7; i++) sum += draw_frame(i);
    return sum == 0;
}
