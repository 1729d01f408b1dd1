/* Bursts of several kinds, each from functions of its own, but all by one function that allocates:
 * bursts OBJECTS. Each burst allocates objects of 16 to 512 bytes, of which one of 25 stays; the
 * others are freed at its end. Prints the bytes that stay, and by how many bytes the process has
 * grown when memory has been given back (malloc_trim). What stays is still there when it exits. */
#include "../../../bench/alloc_resident.h"

#include <malloc.h>
#include <string.h>
#include <sys/prctl.h>

#define NOINLINE __attribute__((noinline, noclone, no_icf))
enum { KINDS = 8, STAYS_OF = 25 };

static unsigned seed = 1;
static void **volatile everything; /* leads to what stays when the program exits */

static unsigned next(void)
{
    return (seed = seed * 1103515245 + 12345) >> 8;
}

static NOINLINE void *take(size_t n)
{
    char *p = malloc(n);
    if (!p)
        abort();
    return memset(p, 1, n);
}

#define KIND(k) \
    static NOINLINE void *take_stay_##k(size_t n) \
    { \
        void *p = take(n); \
        __asm__ volatile("" : "+r"(p)); \
        return p; \
    } \
    static NOINLINE void *take_pass_##k(size_t n) \
    { \
        void *p = take(n); \
        __asm__ volatile("" : "+r"(p)); \
        return p; \
    }
KIND(0)
KIND(1)
KIND(2)
KIND(3)
KIND(4)
KIND(5)
KIND(6)
KIND(7)

static void *(*const take_stay[KINDS])(size_t) = {take_stay_0, take_stay_1, take_stay_2,
                                                  take_stay_3, take_stay_4, take_stay_5,
                                                  take_stay_6, take_stay_7};
static void *(*const take_pass[KINDS])(size_t) = {take_pass_0, take_pass_1, take_pass_2,
                                                  take_pass_3, take_pass_4, take_pass_5,
                                                  take_pass_6, take_pass_7};

int main(int argc, char **argv)
{
    const size_t objects = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    void **passing = malloc(objects * sizeof *passing);
    void **staying = malloc(objects * KINDS * sizeof *staying);
    size_t n_staying = 0, live = 0;
    everything = staying;
    /* Huge pages, where the system makes them of itself, hold more than is said here. */
    if (!passing || !staying || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
        return 1;
    const size_t before = resident();
    for (int kind = 0; kind < KINDS; kind++) {
        size_t n = 0;
        for (size_t i = 0; i < objects; i++) {
            const size_t size = 16 + next() % 497;
            if (i % STAYS_OF == 0) {
                staying[n_staying++] = take_stay[kind](size);
                live += size;
            } else {
                passing[n++] = take_pass[kind](size);
            }
        }
        while (n)
            free(passing[--n]);
    }
    free(passing);
    malloc_trim(0);
    printf("%zu %zu\n", live, resident() - before - n_staying * sizeof *staying);
    return 0;
}
