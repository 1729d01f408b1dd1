/* Records only what runs between the two calls of the recorder's library. */
#include <stdio.h>
#include <stdlib.h>

void pgokit_branches_start(void);
void pgokit_branches_stop(void);

static __attribute__((noinline)) unsigned long recorded(unsigned long n)
{
    unsigned long h = 1;
    for (unsigned long i = 0; i < n; i++)
        h = h & 1 ? h * 3 + i : h / 2 + i * 7;
    return h;
}

static __attribute__((noinline)) unsigned long left_out(unsigned long n)
{
    unsigned long h = 1;
    for (unsigned long i = 0; i < n; i++)
        h = h & 2 ? h * 5 + i : h / 3 + i * 11;
    return h;
}

int main(int argc, char **argv)
{
    const unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    unsigned long h = left_out(n);
    pgokit_branches_start();
    h += recorded(n);
    pgokit_branches_stop();
    printf("%lx\n", h + left_out(n));
    return 0;
}
