/* Loses as many objects as its argument has. */
#include <stdlib.h>

__attribute__((noinline)) static void lose(void)
{
    void *volatile got = malloc(1000);
    got = NULL;
    (void)got;
}

int main(int argc, char **argv)
{
    for (int left = argc > 1 ? atoi(argv[1]) : 0; left; left--)
        lose();
    return 0;
}
