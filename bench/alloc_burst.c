/* Bursts of requests, some of whose objects stay in a cache: alloc_burst BURSTS OBJECTS. Each burst
 * allocates objects of 16 to 512 bytes, of which one of 25 is kept; the others are freed at its
 * end. Then memory is given back (malloc_trim). Prints the bytes that are alive, and those of the
 * process in memory, without what it had before. */
#include "alloc_resident.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone, no_icf))
enum { KEPT_OF = 25 };

static unsigned seed = 1;
static size_t live;

static unsigned next(void)
{
    return (seed = seed * 1103515245 + 12345) >> 8;
}

static NOINLINE void *filled(size_t n)
{
    char *p = malloc(n);
    if (!p)
        abort();
    return memset(p, 1, n);
}

static NOINLINE void *of_request(size_t n)
{
    void *p = filled(n);
    __asm__ volatile("" : "+r"(p));
    return p;
}

static NOINLINE void *of_cache(size_t n)
{
    void *p = filled(n);
    __asm__ volatile("" : "+r"(p));
    live += n;
    return p;
}

int main(int argc, char **argv)
{
    const int bursts = argc > 1 ? atoi(argv[1]) : 6, objects = argc > 2 ? atoi(argv[2]) : 400000;
    const size_t array = (size_t)objects * sizeof(void *);
    void **request = malloc(array), **cache = calloc((size_t)bursts, array / KEPT_OF + 8);
    size_t kept = 0;
    if (!request || !cache)
        return 1;
    const size_t before = resident();
    for (int b = 0; b < bursts; b++) {
        int n = 0;
        for (int i = 0; i < objects; i++) {
            const size_t size = 16 + next() % 497;
            if (i % KEPT_OF == 0)
                cache[kept++] = of_cache(size);
            else
                request[n++] = of_request(size);
        }
        while (n)
            free(request[--n]);
    }
    free(request);
    malloc_trim(0);
    /* The arrays are in memory as far as they were used. */
    printf("%zu %zu\n", live, resident() - before - kept * sizeof *cache);
    while (kept)
        free(cache[--kept]);
    free(cache);
    return 0;
}
