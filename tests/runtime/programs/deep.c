/* Allocates below a recursion: 10 bytes of it, 20 bytes without.
 *
 * usage: deep CALLS [kill] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept[2];

__attribute__((noinline, noclone)) static int down(int calls)
{
    if (!calls) {
        kept[0] = malloc(10);
        return 1;
    }
    const int deeper = down(calls - 1);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return deeper + 1;
}

int main(int argc, char **argv)
{
    kept[1] = malloc(20);
    printf("%d\n", down(atoi(argv[1])));
    fflush(stdout);
    if (argc > 2)
        raise(SIGKILL);
    free(kept[0]);
    free(kept[1]);
    return 0;
}
