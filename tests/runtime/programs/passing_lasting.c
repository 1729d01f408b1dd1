/* Two contexts of one size that live for different times, so that there is something to plan. */
#include <stdlib.h>
#include <string.h>
static char *volatile kept[4000];
__attribute__((noinline)) static char *lasting(void) { return memset(malloc(48), 1, 48); }
__attribute__((noinline)) static char *passing(void) { return memset(malloc(40), 1, 40); }
int main(void)
{
    for (int i = 0; i < 4000; i++) {
        kept[i] = i % 2 ? lasting() : passing();
        free(passing());
    }
    for (int i = 0; i < 4000; i += 2)
        free(kept[i]);
    return 0;
}
