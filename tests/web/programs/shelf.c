/* A library that allocates on behalf of a program. */
#include <stdlib.h>

__attribute__((noinline)) void *shelf_take(size_t bytes)
{
    void *volatile got = malloc(bytes);
    return got;
}

__attribute__((noinline)) void *shelf_call(void *(*fill)(size_t), size_t bytes)
{
    void *volatile got = fill(bytes);
    return got;
}
