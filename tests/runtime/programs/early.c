/* Code that runs before any other of the process: an array of functions that the linker keeps in
 * the order of its inputs. */
#include <stdlib.h>

static volatile int *kept;

__attribute__((noinline)) void early(void);
void early(void)
{
    kept = malloc(40);
    for (int i = 0; i < 10; i++)
        kept[i] = i;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = early;

int main(void)
{
    const int seen = kept[9];
    free((void *)kept);
    return seen != 9;
}
