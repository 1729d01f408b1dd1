/* Objects that live over the dumps of a profile, of which some are freed between two. */
#include <stdlib.h>
extern int __memprof_profile_dump(void);
static void *volatile kept[10], *volatile other;
__attribute__((noinline)) void site_0(void)
{
    for (int i = 0; i < 10; i++)
        kept[i] = malloc(100);
}
__attribute__((noinline)) void site_1(void)
{
    other = malloc(50);
}
int main(void)
{
    site_0();
    __memprof_profile_dump();
    free(kept[0]);
    site_1();
    __memprof_profile_dump();
    free(kept[1]);
    return 0;
}
