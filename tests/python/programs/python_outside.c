/* Allocates below a library. */
#include <stdlib.h>

void *through(void *(*make)(void));

static __attribute__((noinline)) void *make(void)
{
    char *made = malloc(1234);
    *made = 1;
    return made;
}

int main(void)
{
    free(through(make));
    return 0;
}
