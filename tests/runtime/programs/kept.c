/* 2000 objects of 32 bytes that are never freed, 3000 of 100 bytes freed before the next one is
 * made, and 3000 of 50 bytes that live beside one another for a moment.
 *
 * usage: kept [kill]: at the end it is killed */
#include <signal.h>
#include <stdlib.h>

enum { KEPT = 2000, OTHERS = 3000 };

static char *volatile kept[KEPT], *volatile beside[2];

__attribute__((noinline)) static char *keep(void)
{
    return malloc(32);
}

__attribute__((noinline)) static char *make_temporary(void)
{
    return malloc(100);
}

__attribute__((noinline)) static char *make_brief(void)
{
    return malloc(50);
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < KEPT; i++)
        kept[i] = keep();
    for (int i = 0; i < OTHERS; i++)
        free(make_temporary());
    for (int i = 0; i < OTHERS; i++) {
        free(beside[i & 1]);
        beside[i & 1] = make_brief();
        *beside[i & 1] = 1;
    }
    free(beside[0]);
    free(beside[1]);
    if (argc > 1)
        raise(SIGKILL);
    return 0;
}
