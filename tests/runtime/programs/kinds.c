/* Accesses of each kind, as often with any optimisation. Prints `site objects bytes accesses least
 * most` for each kind, as random_access.c does; copies count once for each 8 bytes. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    long words[12];
};
struct pair {
    long first, second;
};
struct bits {
    unsigned low : 3, high : 7;
};
struct row {
    int a, b, c, d;
};
typedef int vector __attribute__((vector_size(32)));

/* The compiler does not know what is in memory, or where p points, from here on. */
#define UNKNOWN(p) __asm__ volatile("" : "+r"(p) : : "memory")

#define KIND(name, type, n, accesses, ...)                                                    \
    __attribute__((noipa)) void *name(void);                                                  \
    void *name(void)                                                                          \
    {                                                                                         \
        void *p = aligned_alloc(64, ((n) * sizeof(type) + 63) / 64 * 64);                     \
        UNKNOWN(p);                                                                           \
        return p;                                                                             \
    }                                                                                         \
    __attribute__((noipa)) static void do_##name(void)                                        \
    {                                                                                         \
        type *p = name();                                                                     \
        __VA_ARGS__                                                                           \
        UNKNOWN(p);                                                                           \
        free(p);                                                                              \
        printf(#name " 1 %zu %d %d %d\n", ((n) * sizeof(type) + 63) / 64 * 64, accesses,      \
               accesses, accesses);                                                           \
    }

static struct block here;
static int chosen[100];
static volatile int sink;

__attribute__((noipa)) static void take(struct block b)
{
    sink = (int)b.words[3];
}

__attribute__((noipa)) static struct block make(long v)
{
    struct block b = {{v}};
    b.words[5] = v;
    return b;
}

__attribute__((noipa)) static void set(int *p)
{
    *p = 1;
}

KIND(scalars, volatile int, 8, 7, p[0] = 1; p[1] = 2; sink = p[0]; p[2] += 3; p[3]++;)
KIND(fields, struct row, 3, 8, int n = 2; UNKNOWN(n); for (int i = 0; i < n; i++) {
    UNKNOWN(p);
    sink = p[i + 1].a + p[i + 1].b * p[i + 1].d;
    p[i].c = i;
})
KIND(backwards, struct row, 16, 60, long n = 15; UNKNOWN(n); for (long i = n; i > 0; i--) {
    p[i].a = (int)i;
    p[i - 1].d = p[i].c + p[i - 1].b;
    UNKNOWN(n);
})
KIND(bit_fields, struct bits, 1, 3, p->low = 2; UNKNOWN(p); sink = p->high;)
KIND(copied_in, struct block, 2, 24, p[0] = here; UNKNOWN(p); p[1] = here;)
KIND(copied_within, struct block, 2, 24, p[1] = p[0];)
KIND(copied_out, struct pair, 2, 2, struct pair pair = p[1]; sink = (int)pair.second;
     __asm__ volatile("" : : "r"(&pair) : "memory");)
KIND(passed, struct block, 1, 12, take(*p);)
KIND(returned, struct block, 1, 12, *p = make(4);)
KIND(atomics, _Atomic long, 2, 6, atomic_fetch_add(&p[0], 1); atomic_store(&p[1], 2);
     sink = (int)atomic_load(&p[0]); long old = 2; atomic_compare_exchange_strong(&p[1], &old, 5);
     sink = (int)atomic_exchange(&p[1], 6); __sync_fetch_and_or((long *)&p[0], 4);)
KIND(memory_functions, char, 256, 13 + 13 + 26 + 2, size_t n = 100; UNKNOWN(n); memset(p, 1, n);
     memcpy(&p[120], &here, 97); memmove(&p[4], p, n);
     n = 9; UNKNOWN(n); memcpy(&here, &p[30], n);)
KIND(vectors, vector, 3, 3, p[0] = (vector){1, 2}; UNKNOWN(p); p[1] = p[0];)
KIND(masked, int, 100, 34, int *to = p; for (int i = 0; i < 100; i++) if (chosen[i]) to[i] = 5;)
KIND(elsewhere, int, 4, 1, int local = 3; set(&local); set(p); sink = local;)

int main(void)
{
    for (int i = 0; i < 100; i++)
        chosen[i] = i % 3 == 0;
    do_scalars();
    do_fields();
    do_backwards();
    do_bit_fields();
    do_copied_in();
    do_copied_within();
    do_copied_out();
    do_passed();
    do_returned();
    do_atomics();
    do_memory_functions();
    do_vectors();
    do_masked();
    do_elsewhere();
    return 0;
}
