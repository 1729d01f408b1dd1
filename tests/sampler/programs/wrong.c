/* Frees what it must not. */
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char *volatile p[64];
    volatile int off = 16;
    for (int i = 0; i < 64; i++)
        p[i] = malloc(1000);
    if (argc > 1 && !strcmp(argv[1], "inside"))
        free(p[63] + off);
    free(p[63]);
    free(p[63]);
    return 0;
}
