/* The example of the proposal of heap profiles: a hot caller A and a cold one, C, of B. */
#include <stdlib.h>
#include <string.h>
#if IN_A
#define INTO_A __attribute__((flatten))
#else
#define INTO_A
#endif
#if IN_C
#define INTO_C __attribute__((flatten))
#else
#define INTO_C
#endif
static volatile long sum;
static char *B(int n)
{
    char *p = malloc(n);
    memset(p, n, n);
    return p;
}
INTO_A void A(int n)
{
    char *p = B(n);
    sum += p[n / 2];
    free(p);
}
INTO_C void C(int n)
{
    char *p = B(3 * n);
    sum += p[n];
    free(p);
}
int main(void)
{
    for (int i = 1; i < 50; i++)
        A(i);
    for (int i = 1; i < 5; i++)
        C(100 * i);
    return 0;
}
