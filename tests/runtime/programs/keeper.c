/* Objects of known sizes at a peak that cannot be missed, and frames that stay. */
#include <stdlib.h>
void *kept[300];
__attribute__((noinline)) static void *large(void) { return malloc(5000); }
__attribute__((noinline)) static void *small(void) { return malloc(20); }
int main(void)
{
    for (int i = 0; i < 200; i++)
        kept[i] = large();
    for (int i = 200; i < 300; i++)
        kept[i] = small();
    for (int i = 0; i < 300; i++)
        free(kept[i]);
    return 0;
}
