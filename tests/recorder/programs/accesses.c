/* A program that knows how often it reads and writes each of its arrays, with the recorder in it,
 * which estimates these numbers:
 *
 *   accesses ARRAYS ROUNDS TURNS BUDGET
 *
 * In each round it goes through the arrays (their first letters) with so many turns each, in three
 * threads. BUDGET is in thousandths of the processor time. Prints a line for each array: name,
 * loads, stores, and the estimates. */
#include "recorder_access.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUICK, /* a load in each turn of a loop of some 25 cycles */
    SLOW,  /* the same and a store, in about 100 */
    FAR,   /* a load that waits for memory, and a store */
    ADDED, /* one instruction that reads and writes */
    FILLED,
    COPIED,
    COPY,
    COMPARED, /* by string instructions */
    WIDE,     /* loads of 16 bytes */
    POINTER,  /* targets of calls */
    ARRAYS,
    ARRAY_BYTES = 1 << 20,
    FAR_BYTES = 64 << 20,
    THREADS = 3,
    STRING_BYTES = 61,
    WORDS = (STRING_BYTES + 7) / 8, /* for which a string instruction counts */
};

static const char *const names[ARRAYS] = {"quick",  "slow", "far",      "added", "filled",
                                          "copied", "copy", "compared", "wide",  "pointer"};
static char arrays[ARRAYS * ARRAY_BYTES + FAR_BYTES] __attribute__((aligned(4096)));
static uint64_t exact[ARRAYS][2], seen[PGBR_WINDOWS_AT_ONCE][ARRAYS][2];
static uint64_t estimates[ARRAYS][2], windows, with_hits;

static char *array(int which)
{
    return arrays + (which == FAR ? ARRAYS : which) * ARRAY_BYTES;
}

__attribute__((target("general-regs-only"))) static void
take(uint32_t window, uint64_t addr, uint32_t bytes, uint32_t accesses, bool store)
{
    const uint64_t at = (addr - (uint64_t)arrays) / ARRAY_BYTES;
    (void)bytes;
    seen[window][at < ARRAYS ? at : FAR][store] += accesses;
}

static void window_ended(uint32_t window, uint64_t weight)
{
    uint64_t hits = 0;
    for (int i = 0; i < ARRAYS; i++)
        for (int k = 0; k < 2; k++) {
            hits += seen[window][i][k];
            __atomic_fetch_add(&estimates[i][k], seen[window][i][k] * weight, __ATOMIC_RELAXED);
            seen[window][i][k] = 0;
        }
    __atomic_fetch_add(&windows, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&with_hits, hits > 0, __ATOMIC_RELAXED);
}

#define KEEP __attribute__((noinline))

static int rounds, turns;
static const char *chosen;

KEEP static void quick(volatile uint32_t *a)
{
    uint32_t x = 3;
    for (int i = 0; i < turns; i++) {
        x ^= a[i & 1023];
        __asm__ volatile(".rept 8; imul %0, %0; .endr" : "+r"(x));
    }
}

KEEP static uint64_t slow(volatile uint64_t *a)
{
    uint64_t sum = 1;
    for (int i = 0; i < turns; i++) {
        sum += UINT64_C(0xffffffffffff) / (a[sum & 1023] | 1 | sum);
        __asm__ volatile(".rept 24; imul %0, %0; .endr" : "+r"(sum));
        a[i & 1023] = sum;
    }
    return sum;
}

KEEP static uint32_t far(volatile uint32_t *a)
{
    uint32_t at = 1;
    for (int i = 0; i < turns; i++) {
        at = at * 1664525 + 1013904223 + a[at % (FAR_BYTES / 4)];
        a[i & 1023] = at;
    }
    return at;
}

KEEP static void add(uint64_t *a)
{
    for (int i = 0; i < turns; i++)
        __asm__ volatile("addq $1, (%0)" : : "r"(a + (i & 1023)) : "memory");
}

KEEP static void fill(void *to)
{
    size_t n = STRING_BYTES;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(1) : "memory");
}

KEEP static void copy(void *to, const void *from)
{
    size_t n = STRING_BYTES;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

KEEP static void compare(const void *a)
{
    size_t n = STRING_BYTES;
    __asm__ volatile("repe scasb" : "+D"(a), "+c"(n) : "a"(0) : "memory", "cc");
}

KEEP static void wide(const char *a)
{
    for (int i = 0; i < turns; i++)
        __asm__ volatile("movups 8(%0,%1,4), %%xmm0"
                         :
                         : "r"(a), "r"((uint64_t)(i & 1023))
                         : "xmm0");
}

KEEP static void nothing(void) {}

KEEP static void calls(void (**a)(void))
{
    for (int i = 0; i < turns; i++)
        __asm__ volatile("call *(%0)"
                         :
                         : "r"(a + (i & 15))
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory",
                           "cc");
}

static void know(int which, uint64_t loads, uint64_t stores)
{
    const uint64_t times = (uint64_t)turns * (uint64_t)rounds;
    __atomic_fetch_add(&exact[which][0], loads * times, __ATOMIC_RELAXED);
    __atomic_fetch_add(&exact[which][1], stores * times, __ATOMIC_RELAXED);
}

static void one_round(char which)
{
    switch (which) {
    case 'q':
        quick((volatile uint32_t *)array(QUICK));
        break;
    case 's':
        slow((volatile uint64_t *)array(SLOW));
        break;
    case 'f':
        far((volatile uint32_t *)array(FAR));
        break;
    case 'a':
        add((uint64_t *)array(ADDED));
        break;
    case 'w':
        wide(array(WIDE));
        break;
    case 'p':
        calls((void (**)(void))array(POINTER));
        break;
    case 'm':
        for (int i = 0; i < turns; i++) {
            fill(array(FILLED));
            copy(array(COPY), array(COPIED));
            compare(array(COMPARED));
        }
    }
}

static void know_all(void)
{
    static const struct {
        char letter;
        int array, loads, stores;
    } rows[] = {{'q', QUICK, 1, 0},       {'s', SLOW, 1, 1},     {'f', FAR, 1, 1},
                {'a', ADDED, 1, 1},       {'w', WIDE, 1, 0},     {'p', POINTER, 1, 0},
                {'m', FILLED, 0, WORDS},  {'m', COPY, 0, WORDS}, {'m', COPIED, WORDS, 0},
                {'m', COMPARED, WORDS, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strchr(chosen, rows[i].letter))
            know(rows[i].array, (uint64_t)rows[i].loads, (uint64_t)rows[i].stores);
}

static void *work(void *unused)
{
    for (int i = 0; i < rounds; i++)
        for (const char *which = chosen; *which; which++)
            one_round(*which);
    know_all();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc < 5)
        return 2;
    chosen = argv[1];
    rounds = atoi(argv[2]);
    turns = atoi(argv[3]);
    pgbr_accesses = (struct pgbr_accesses){(uint64_t)arrays, sizeof arrays, take, window_ended};
    for (int i = 0; i < 16; i++)
        ((void (**)(void))array(POINTER))[i] = nothing;
    for (int i = 0; i < FAR_BYTES / 4; i++)
        ((uint32_t *)array(FAR))[i] = (uint32_t)i;
    if (!pgbr_start_for_accesses((uint32_t)atoi(argv[4])))
        return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pgbr_stop_for_accesses();
    for (int i = 0; i < ARRAYS; i++)
        printf("%s %llu %llu %llu %llu\n", names[i], (unsigned long long)exact[i][0],
               (unsigned long long)exact[i][1],
               (unsigned long long)estimates[i][0] >> PGBR_WEIGHT_PLACES,
               (unsigned long long)estimates[i][1] >> PGBR_WEIGHT_PLACES);
    printf("windows %llu %llu\ncost_ns %llu\n", (unsigned long long)windows,
           (unsigned long long)with_hits, (unsigned long long)pgbr_cost_ns());
    return 0;
}
