/* Heap memory: overflow-checked allocation with a switch that makes it fail. */
#include "mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* 0: never fail; 1: fail now and from now on; n: fail after n - 1 more. */
static _Atomic uint64_t fail_countdown;

void pgk_mem_fail_after(uint64_t nth)
{
    atomic_store(&fail_countdown, nth);
}

static bool must_fail(void)
{
    uint64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (left > 1)
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
            return false;
    return left == 1;
}

/* The byte size of an allocation, never 0 because malloc(0) may give NULL. */
static bool byte_size(size_t count, size_t size, size_t *bytes)
{
    if (__builtin_mul_overflow(count, size, bytes) || *bytes > PTRDIFF_MAX)
        return false;
    if (*bytes == 0)
        *bytes = 1;
    return !must_fail();
}

void *pgk_mem_alloc(size_t count, size_t size)
{
    size_t bytes;
    return byte_size(count, size, &bytes) ? malloc(bytes) : NULL;
}

void *pgk_mem_zalloc(size_t count, size_t size)
{
    size_t bytes;
    return byte_size(count, size, &bytes) ? calloc(1, bytes) : NULL;
}

enum { PAGE = 4096, LARGE_BYTES = 1 << 20 };

void *pgk_mem_table(size_t count, size_t size)
{
    void *p = pgk_mem_zalloc(count, size);
    if (p && count * size >= LARGE_BYTES) {
        /* A page that is read before it is written would be faulted in twice. A kernel that
         * does not know the advice refuses it, and nothing is lost. Large pages are not
         * asked for: where memory is scarce of them, making one costs more than it saves. */
        uintptr_t first = ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
        uintptr_t end = ((uintptr_t)p + count * size) & ~(uintptr_t)(PAGE - 1);
        (void)madvise((void *)first, end - first, MADV_POPULATE_WRITE);
    }
    return p;
}

void *pgk_mem_large(size_t bytes)
{
    if (bytes > PTRDIFF_MAX || must_fail())
        return NULL;
    void *p = aligned_alloc(PGK_MEM_LARGE, bytes);
    if (p)
        (void)madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

void *pgk_mem_resize(void *old, size_t count, size_t size)
{
    size_t bytes;
    return byte_size(count, size, &bytes) ? realloc(old, bytes) : NULL;
}

void pgk_mem_free(void *p)
{
    free(p);
}

char *pgk_mem_strdup(const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = pgk_mem_alloc(size, 1);
    return copy ? memcpy(copy, s, size) : NULL;
}
