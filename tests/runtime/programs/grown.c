/* Buffers that realloc makes larger and smaller.
 *   grown grow      to 32 MiB by 1 MiB; prints page faults and the most memory, in KiB
 *   grown sparse    40 GiB of which two bytes are used, made smaller and larger; prints the same
 *   grown random    compares the contents of buffers of many sizes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MIB = 1 << 20, BUFFERS = 24, ROUNDS = 3000 };

static void grow(void)
{
    char *volatile p = NULL;
    for (size_t n = MIB; n <= 32 * MIB; n += MIB) {
        p = realloc(p, n);
        memset(p + n - MIB, 1, MIB);
    }
    free(p);
}

static void sparse(void)
{
    const size_t gib = (size_t)1 << 30, sizes[] = {20 * gib, 30 * gib, 5 * gib, 39 * gib};
    char *volatile p = malloc(40 * gib);
    p[0] = p[gib] = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        p = realloc(p, sizes[i]);
        if (!p || p[0] + p[gib] != 2)
            exit(1);
    }
    free(p);
}

/* Each byte of a buffer is known by its place and the buffer. */
static void check_random(void)
{
    static unsigned char *buffers[BUFFERS];
    static size_t sizes[BUFFERS];
    unsigned seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        const unsigned b = (seed = seed * 1103515245 + 12345) >> 16 & 0x7fff;
        const unsigned i = b % BUFFERS;
        const size_t n = ((size_t)1 << (b >> 5) % 22) + b, old = sizes[i];
        buffers[i] = realloc(buffers[i], n);
        for (size_t at = 0; at < n && at < old; at++)
            if (buffers[i][at] != (unsigned char)(at * 31 + i))
                exit(1);
        for (size_t at = old; at < n; at++)
            buffers[i][at] = (unsigned char)(at * 31 + i);
        sizes[i] = n;
    }
    for (int i = 0; i < BUFFERS; i++)
        free(buffers[i]);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    !strcmp(how, "grow") ? grow() : !strcmp(how, "sparse") ? sparse() : check_random();
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%ld %ld\n", used.ru_minflt, used.ru_maxrss);
    return 0;
}
