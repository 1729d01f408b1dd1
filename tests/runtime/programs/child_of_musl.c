/* Ends with its argument, and with 99 where it finds our libraries. */
#include <stdlib.h>
#include <string.h>
int main(int n, char **v)
{
    const char *preload = getenv("LD_PRELOAD");
    if (preload && strcmp(preload, "/no/libother.so"))
        return 99;
    return n > 1 ? atoi(v[1]) : 3;
}
