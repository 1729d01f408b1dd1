/* A library that has a function without a name once it is stripped. */
#include <stdlib.h>

static __attribute__((noinline)) void *hidden(void *(*make)(void))
{
    char *made = make();
    *made = 1;
    return made;
}

void *through(void *(*make)(void))
{
    char *made = hidden(make);
    *made = 2;
    return made;
}
