/* A simulation of things in cells: alloc_graph THINGS STEPS THREADS. Each thing is a node that all
 * steps visit, a description that is hardly read, and a note that is replaced now and then; all
 * have the same size. Threads have a world each. Prints a sum. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone, no_icf))

struct note {
    char text[48];
};
struct thing {
    struct thing *next;
    struct note *about, *note;
    uint64_t key, energy, seen;
};
struct world {
    struct thing **cells;
    unsigned seed;
    uint64_t sum;
};
static int things = 100000, steps = 40;

static unsigned chance(struct world *w)
{
    return (w->seed = w->seed * 1103515245 + 12345) >> 4;
}

static NOINLINE void *get(size_t n)
{
    void *p = malloc(n);
    if (!p)
        abort();
    return p;
}

static NOINLINE struct note *describe(uint64_t key)
{
    struct note *n = get(sizeof *n);
    snprintf(n->text, sizeof n->text, "thing %llu", (unsigned long long)key);
    return n;
}

static NOINLINE struct note *remark(uint64_t key)
{
    struct note *n = get(sizeof *n);
    memset(n->text, (int)(key & 127), sizeof n->text);
    return n;
}

static NOINLINE struct thing *make(struct world *w, uint64_t key)
{
    struct thing *t = get(sizeof *t);
    *t = (struct thing){.key = key, .energy = chance(w), .about = describe(key)};
    t->note = remark(key);
    return t;
}

static void step(struct world *w, int cells)
{
    for (int c = 0; c < cells; c++)
        for (struct thing *t = w->cells[c]; t; t = t->next) {
            t->energy = t->energy * 3 + t->seen++;
            if (t->energy % 61 == 0) {
                free(t->note);
                t->note = remark(t->energy);
            }
            w->sum += t->energy ^ t->key;
        }
}

static void *run(void *arg)
{
    struct world w = {.seed = (unsigned)(uintptr_t)arg};
    const int cells = things / 64 + 1;
    w.cells = calloc((size_t)cells, sizeof(struct thing *));
    if (!w.cells)
        abort();
    for (int i = 0; i < things; i++) {
        struct thing **cell = &w.cells[chance(&w) % (unsigned)cells], *t = make(&w, (uint64_t)i);
        t->next = *cell;
        *cell = t;
    }
    for (int i = 0; i < steps; i++)
        step(&w, cells);
    for (int c = 0; c < cells; c++)
        for (struct thing *t = w.cells[c], *next; t; t = next) {
            next = t->next;
            w.sum += (unsigned char)t->about->text[6];
            free(t->about);
            free(t->note);
            free(t);
        }
    free(w.cells);
    return (void *)(uintptr_t)w.sum;
}

int main(int argc, char **argv)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    uint64_t sum = 0;
    const int n = argc > 3 ? atoi(argv[3]) : 1;
    things = argc > 1 ? atoi(argv[1]) : things;
    steps = argc > 2 ? atoi(argv[2]) : steps;
    if (n < 1 || n > MOST)
        return 2;
    for (uintptr_t i = 0; i < (uintptr_t)n; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(i + 1)))
            return 1;
    for (int i = 0; i < n; i++) {
        void *of_thread;
        pthread_join(threads[i], &of_thread);
        sum += (uintptr_t)of_thread;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
