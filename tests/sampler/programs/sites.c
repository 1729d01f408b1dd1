/* Call sites that know what they allocate: prints a line for each, "NAME OBJECTS BYTES", and
 * "all OBJECTS BYTES" of main and the threads. sites ROUNDS [THREADS] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE __attribute__((noinline))

enum { SITES = 6, KEPT = 512 };
struct sums {
    unsigned long objects[SITES], bytes[SITES];
};
static const char *const names[SITES] = {"tiny", "small", "mixed", "large", "cleared", "grown"};

SITE static void *tiny(size_t n) { return memset(malloc(8), 1, 8 + 0 * n); }
SITE static void *small(size_t n) { return memset(malloc(100), 1, 100 + 0 * n); }
SITE static void *mixed(size_t n) { return memset(malloc(n), 1, n); }
SITE static void *large(size_t n) { return memset(malloc(n * 64), 1, 16); }
SITE static void *cleared(size_t n) { return calloc(n, 3); }
SITE static void *grown(void *p, size_t n) { return realloc(p, n); }

static unsigned next(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 8;
}

static void count(struct sums *s, int site, size_t bytes)
{
    s->objects[site]++;
    s->bytes[site] += bytes;
}

static void *run(void *arg)
{
    static unsigned long rounds;
    struct sums *s = calloc(1, sizeof *s);
    void *kept[KEPT] = {0};
    unsigned state = 7;
    if (arg)
        rounds = *(unsigned long *)arg;
    for (unsigned long i = 0; i < rounds; i++) {
        const size_t n = 1 + next(&state) % 2000;
        const int site = (int)(next(&state) % SITES);
        void **to = &kept[next(&state) % KEPT];
        if (site != 5)
            free(*to);
        switch (site) {
        case 0: *to = tiny(n); count(s, site, 8); break;
        case 1: *to = small(n); count(s, site, 100); break;
        case 2: *to = mixed(n); count(s, site, n); break;
        case 3: *to = large(n); count(s, site, n * 64); break;
        case 4: *to = cleared(n); count(s, site, n * 3); break;
        default: *to = grown(*to, n); count(s, site, n);
        }
        if (!*to)
            abort();
    }
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
    return s;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    const int threads = argc > 2 ? atoi(argv[2]) : 0;
    struct sums all = *(struct sums *)run(&rounds);
    pthread_t t[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, run, NULL);
    for (int i = 0; i < threads; i++) {
        struct sums *s;
        pthread_join(t[i], (void **)&s);
        for (int site = 0; site < SITES; site++) {
            all.objects[site] += s->objects[site];
            all.bytes[site] += s->bytes[site];
        }
    }
    for (int site = 0; site < SITES; site++)
        printf("%s %lu %lu\n", names[site], all.objects[site], all.bytes[site]);
    return 0;
}
