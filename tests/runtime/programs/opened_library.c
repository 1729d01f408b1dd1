/* What opened.c opens. With OLD its calls are of the first version of free; with OWN it has malloc
 * and free of its own for what it keeps to itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifdef OLD
__asm__(".symver free, free@GLIBC_2.2.5");
#endif
#ifdef OWN
static char memory[256];
static volatile int used, made;

void *malloc(size_t n)
{
    used++;
    made++;
    return n < sizeof memory ? memory : NULL;
}

void free(void *p)
{
    used -= p == memory ? 1 : 1000;
}
#endif

void give(void *p)
{
#ifndef OWN
    free(p);
#endif
}

char *take(void)
{
    return strdup("taken");
}

int inside(void)
{
    char *p = malloc(20);
    strcpy(p, "inside");
    const int right = p[5] == 'e';
    free(p);
#ifdef OWN
    if (used || !made)
        return 0;
#endif
    return right;
}

void *open_inner(const char *name, int mode)
{
    return dlopen(name, mode);
}
