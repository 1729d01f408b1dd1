/* The other file of same_statics.c. */
#include <stdlib.h>
extern void *volatile keep;
void other(void);
#line 4
__attribute__((noinline)) static void make(int n)
{
    keep = malloc(n);
}
void other(void)
{
    make(20);
}
