/* The runtime's own tables under the thread sanitizer: many threads allocate below many stacks,
 * free what others made, come and go, while dumps are written. Linked with the runtime's sources
 * instead of the library; objects and counters lie in a small arena in place of an allocator and
 * of the shadow of all memory.
 *
 * usage: races ROUNDS   prints how many objects there were */
#include "guest_bytes.h"
#include "guest_processor.h"
#include "runtime_alloc.h"
#include "runtime_confine.h"
#include "runtime_cost.h"
#include "runtime_hooks.h"
#include "runtime_shadow.h"
#include "runtime_start.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ARENA = 256 << 20, PIECE = 64 << 10, THREADS = 6, SLOTS = 64 };

static char arena[ARENA] __attribute__((aligned(4 << 20)));
static u64 counters[ARENA / 64];
static size_t used;
static __thread char *piece, *piece_end;
static void *slots[SLOTS];
static long objects;

uintptr_t __memprof_shadow_memory_dynamic_address, pgrt_words;
u64 pgrt_shadow_bytes;
bool pgrt_histogram;

int __memprof_profile_dump(void);
void *__wrap_pgg_map(size_t bytes);
void __wrap_pgg_unmap(void *p, size_t bytes);
void *pgrt_je_malloc(size_t n);
void *pgrt_je_mallocx(size_t n, int flags);
size_t pgrt_je_xallocx(void *p, size_t n, size_t more, int flags);
void pgrt_je_free(void *p);
void pgrt_je_sdallocx(void *p, size_t n, int flags);
int pgrt_je_mallctl(const char *name, void *old, size_t *old_size, void *to, size_t to_size);

bool pgrt_shadow_init(void)
{
    __memprof_shadow_memory_dynamic_address = (uintptr_t)counters - ((uintptr_t)arena >> 3);
    pgrt_words = __memprof_shadow_memory_dynamic_address;
    return true;
}

void pgrt_shadow_reset_large(u64 *first, u64 *end)
{
    pgg_zero(first, (size_t)((char *)end - (char *)first));
}

u64 pgrt_shadow_sum_large(const u64 *mark, const u64 *end, u64 *touched)
{
    return pgg_words_sum(mark + 1, end, touched);
}

u64 pgrt_shadow_sum_bytes(uintptr_t start, size_t n, u64 *touched)
{
    (void)start;
    (void)n;
    (void)touched;
    return 0;
}

/* The sanitizer has functions of the names that runtime_hooks.c exports. */
bool pgrt_hooked;

void pgrt_hooks_init(void) {}

void pgrt_hook_alloc(const volatile void *object, size_t n)
{
    (void)object;
    (void)n;
}

void pgrt_hook_free(const volatile void *object)
{
    (void)object;
}

/* Memory that the sanitizer knows is new. */
void *__wrap_pgg_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void __wrap_pgg_unmap(void *p, size_t bytes)
{
    munmap(p, bytes);
}

void *pgrt_je_malloc(size_t n)
{
    if ((size_t)(piece_end - piece) < n) {
        size_t at = __atomic_fetch_add(&used, PIECE, __ATOMIC_RELAXED);
        if (at + PIECE > ARENA)
            return NULL;
        piece = arena + at;
        piece_end = piece + PIECE;
    }
    char *p = piece;
    piece += n;
    return p;
}

void *pgrt_je_mallocx(size_t n, int flags)
{
    (void)flags;
    return pgrt_je_malloc(n);
}

/* No block grows where it is. */
size_t pgrt_je_xallocx(void *p, size_t n, size_t more, int flags)
{
    (void)p;
    (void)n;
    (void)more;
    (void)flags;
    return 0;
}

void pgrt_je_free(void *p)
{
    (void)p;
}

void pgrt_je_sdallocx(void *p, size_t n, int flags)
{
    (void)p;
    (void)n;
    (void)flags;
}

int pgrt_je_mallctl(const char *name, void *old, size_t *old_size, void *to, size_t to_size)
{
    (void)name, (void)old, (void)old_size, (void)to, (void)to_size;
    return 0;
}

/* It takes nothing away from itself. */
void pgrt_confine_init(void)
{
    pgrt_cost_init(true);
}

void pgrt_confine_ask(void) {}

__attribute__((noinline)) static void *object(size_t n)
{
    return pgrt_alloc(n, 0, false, PGG_HERE);
}

static void *below(int depth, unsigned path);

#define WAY(name)                                                       \
    __attribute__((noinline)) static void *name(int depth, unsigned path) \
    {                                                                   \
        void *p = below(depth, path);                                   \
        __asm__ volatile("# " #name ::: "memory");                      \
        return p;                                                       \
    }

WAY(left)
WAY(right)

/* An object below one of 2^depth stacks. */
static void *below(int depth, unsigned path)
{
    if (!depth)
        return object(1 + path % 40);
    return path & 1 ? left(depth - 1, path >> 1) : right(depth - 1, path >> 1);
}

static void *work(void *arg)
{
    unsigned random = (unsigned)(uintptr_t)arg * 2654435761u;
    for (int i = 0; i < 3000; i++) {
        random = random * 1103515245 + 12345;
        void *p = below(8, random >> 12);
        if (!p)
            abort();
        __atomic_fetch_add(&objects, 1, __ATOMIC_RELAXED);
        pgrt_free(__atomic_exchange_n(&slots[(random >> 8) % SLOTS], p, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t ids[THREADS];
    pgrt_ready();
    for (int round = 0; round < (argc > 1 ? atoi(argv[1]) : 1); round++) {
        for (uintptr_t i = 0; i < THREADS; i++)
            if (pthread_create(&ids[i], NULL, work, (void *)(i + (uintptr_t)round * THREADS)))
                return 2;
        for (int i = 0; i < 5; i++)
            __memprof_profile_dump();
        for (int i = 0; i < THREADS; i++)
            pthread_join(ids[i], NULL);
    }
    printf("%ld\n", objects);
    return 0;
}
