/* Touches the first 90,000 bytes of three objects of 1 MiB, and every second one of 100 objects of
 * 24 bytes; the last large one lives on.
 *
 * usage: sparse exit|kill|dump|fork   with fork, a child makes and frees the small objects */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE = 1 << 20, USED = 90000, SMALL = 24 };
extern int __memprof_profile_dump(void) __attribute__((weak));

__attribute__((noinline)) static char *large(void)
{
    char *p = malloc(LARGE);
    __asm__ volatile("" : "+r"(p)::"memory");
    return p;
}

__attribute__((noinline)) static char *small(void)
{
    char *p = malloc(SMALL);
    __asm__ volatile("" : "+r"(p)::"memory");
    return p;
}

static void small_ones(void)
{
    for (int i = 0; i < 100; i++) {
        volatile char *p = small();
        if (i % 2)
            p[i % SMALL] = 1;
        free((void *)p);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    char *all[3];
    for (volatile int i = 0; i < 3; i++) { /* in one place of the code */
        all[i] = large();
        for (volatile char *p = all[i]; p < all[i] + USED; p++)
            *p = 1;
    }
    if (strcmp(how, "fork"))
        small_ones();
    else if (!fork())
        return small_ones(), 0;
    else
        wait(NULL);
    if (!strcmp(how, "dump"))
        __memprof_profile_dump();
    free(all[0]);
    free(all[1]);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    return 0;
}
