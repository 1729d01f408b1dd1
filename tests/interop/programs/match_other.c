/* The second file of match_shapes.c, with a static function of the same name. */
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) char *mk(int n)
{
    char *p = malloc(n);
    memset(p, 7, n);
    return p;
}
int other(int n)
{
    char *p = mk(n + 1);
    n = p[0];
    free(p);
    return n;
}
