/* Functions that call themselves and each other, in the program and through a library. */
#include <stdlib.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

void *shelf_take(size_t bytes);
void *shelf_call(void *(*fill)(size_t), size_t bytes);
int odd(int n);

static void *volatile held[100];
static int taken;

KEEP void hold(void *got) { held[taken++] = got; }

KEEP int even(int n)
{
    hold(malloc(3000));
    return n ? odd(n - 1) + 1 : 0;
}

KEEP int odd(int n)
{
    hold(shelf_take(500));
    return n ? even(n - 1) + 1 : 0;
}

KEEP int descend(int n)
{
    hold(malloc(20000));
    return n ? descend(n - 1) + 1 : 0;
}

KEEP void *fill(size_t bytes)
{
    void *volatile got = malloc(bytes);
    return got;
}

int main(void)
{
    int deep = even(5) + odd(3) + descend(4);
    hold(fill(70000));
    hold(shelf_call(fill, 150000));
    free(held[--taken]);
    usleep(20000); /* so that the peak and the end are two times */
    while (taken)
        free(held[--taken]);
    return deep == 12 ? 0 : 1;
}
