/* Allocates by the addresses of malloc and free. */
#include <stdlib.h>
#include <stdio.h>
int main(void)
{
    void *(*volatile take)(size_t) = malloc;
    void (*volatile give)(void *) = free;
    for (int i = 0; i < 1000; i++)
        give(take(24));
    return puts("on") < 0;
}
