/* Objects whose loads and stores are known: prints "SITE OBJECTS LOADS STORES" for each site.
 * uses ROUNDS [THREADS] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE __attribute__((noinline))

enum { OBJECTS = 20000, WORDS = 32 };
struct object {
    volatile uint64_t words[WORDS];
};

SITE static struct object *often(void) { return malloc(sizeof(struct object)); }
SITE static struct object *written(void) { return malloc(sizeof(struct object)); }
SITE static struct object *both(void) { return malloc(sizeof(struct object)); }
SITE static struct object *seldom(void) { return malloc(sizeof(struct object)); }
SITE static char *copied(void) { return malloc(sizeof(struct object)); }

static struct object *objects[4][OBJECTS];
static char *copies[OBJECTS];

SITE static uint64_t read_all(struct object *o)
{
    uint64_t sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum += o->words[i];
    return sum;
}

SITE static void write_all(struct object *o, uint64_t v)
{
    for (int i = 0; i < WORDS; i++)
        o->words[i] = v;
}

SITE static void add_all(struct object *o)
{
    for (int i = 0; i < WORDS; i++)
        o->words[i]++;
}

static unsigned long rounds;

static void *use(void *arg)
{
    uint64_t sum = 0;
    for (unsigned long r = 0; r < rounds; r++)
        for (int i = 0; i < OBJECTS; i++) {
            sum += read_all(objects[0][i]);
            write_all(objects[1][i], r);
            if (i % 2)
                add_all(objects[2][i]);
            if (r % 64 == 0)
                sum += read_all(objects[3][i]);
            __builtin_memcpy(copies[i], (const void *)objects[0][0], 0);
            memset(copies[i], (int)r, sizeof(struct object));
        }
    *(volatile uint64_t *)arg = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
    const int threads = argc > 2 ? atoi(argv[2]) : 1;
    static volatile uint64_t sums[64];
    pthread_t t[64];
    for (int i = 0; i < OBJECTS; i++) {
        objects[0][i] = often();
        objects[1][i] = written();
        objects[2][i] = both();
        objects[3][i] = seldom();
        copies[i] = copied();
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, use, (void *)&sums[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    const unsigned long all = rounds * (unsigned long)threads * OBJECTS * WORDS,
                        few = (rounds + 63) / 64 * (unsigned long)threads * OBJECTS * WORDS;
    printf("often %d %lu 0\nwritten %d 0 %lu\nboth %d %lu %lu\nseldom %d %lu 0\ncopied %d 0 %lu\n",
           OBJECTS, all, OBJECTS, all, OBJECTS, all / 2, all / 2, OBJECTS, few, OBJECTS, all);
    return 0;
}
