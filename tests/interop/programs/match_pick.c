/* Of two calls of one function only one runs. */
#include <stdlib.h>
volatile long sum;
static __attribute__((noinline)) char *mk(int n)
{
    char *p = malloc(n);
    sum += p == NULL;
    return p;
}
int main(int argc, char **argv)
{
    char *p = *argv;
    if (argc > 5)
        p = mk(5);
    sum += 2;
    if (argc < 5)
        p = mk(500);
    sum += p != NULL;
    return 0;
}
