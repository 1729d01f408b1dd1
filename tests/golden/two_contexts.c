/* The program behind the golden heap profiles: see HOWTO.md. */
#include <stdlib.h>
#include <string.h>

extern void __memprof_profile_dump(void);

static void *volatile keep;

__attribute__((noinline)) static char *make(size_t size)
{
    return malloc(size);
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 3; i++) {
        char *p = make(20 + 8 * (size_t)i);
        memset(p, i, 20);
        p[i]++;
        keep = p;
        free(p);
    }
    if (argc > 1)
        __memprof_profile_dump();
    keep = make(100);
    return 0;
}
