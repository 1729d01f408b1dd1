/* The allocation functions of C, in front of those of the program's own allocator: a count, and a
 * jump. Of what frees, a comparison and a jump. Compiled without frame pointers, as none of these
 * has anything to keep. */
#include "sampler_next.h"
#include "sampler_object.h"
#include "sampler_slow.h"

#include <errno.h>

PGSM_EXPORT void *malloc(size_t n);
PGSM_EXPORT void *calloc(size_t n, size_t size);
PGSM_EXPORT void *realloc(void *p, size_t n);
PGSM_EXPORT void *reallocarray(void *p, size_t n, size_t size);
PGSM_EXPORT void free(void *p);
PGSM_EXPORT void cfree(void *p);
PGSM_EXPORT void free_sized(void *p, size_t n);
PGSM_EXPORT void free_aligned_sized(void *p, size_t align, size_t n);
PGSM_EXPORT void *memalign(size_t align, size_t n);
PGSM_EXPORT void *aligned_alloc(size_t align, size_t n);
PGSM_EXPORT int posix_memalign(void **out, size_t align, size_t n);
PGSM_EXPORT void *valloc(size_t n);
PGSM_EXPORT void *pvalloc(size_t n);
PGSM_EXPORT size_t malloc_usable_size(void *p);

void *malloc(size_t n)
{
    return PGG_LIKELY(!pgsm_count(n)) ? pgsm_next.malloc(n) : pgsm_slow_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (PGG_UNLIKELY(__builtin_mul_overflow(n, size, &bytes)))
        return pgsm_next.calloc(n, size);
    return PGG_LIKELY(!pgsm_count(bytes)) ? pgsm_next.calloc(n, size) : pgsm_slow_calloc(n, size);
}

/* With 0 bytes it frees, and the allocator decides what it returns. */
void *realloc(void *p, size_t n)
{
    if (PGG_UNLIKELY(pgsm_is_inside(p)))
        return pgsm_slow_realloc_inside(p, n);
    if (PGG_UNLIKELY(!n && p))
        return pgsm_next.realloc(p, n);
    return PGG_LIKELY(!pgsm_count(n)) ? pgsm_next.realloc(p, n) : pgsm_slow_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, bytes);
}

PGG_INLINE void release(void *p)
{
    if (PGG_LIKELY(!pgsm_is_inside(p)))
        pgsm_next.free(p);
    else
        pgsm_end(p);
}

void free(void *p)
{
    release(p);
}

void cfree(void *p)
{
    release(p);
}

void free_sized(void *p, size_t n)
{
    (void)n;
    release(p);
}

void free_aligned_sized(void *p, size_t align, size_t n)
{
    (void)align;
    (void)n;
    release(p);
}

void *memalign(size_t align, size_t n)
{
    return PGG_LIKELY(!pgsm_count(n)) ? pgsm_next.memalign(align, n) : pgsm_slow_memalign(align, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return PGG_LIKELY(!pgsm_count(n)) ? pgsm_next.aligned_alloc(align, n)
                                      : pgsm_slow_aligned_alloc(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    return PGG_LIKELY(!pgsm_count(n)) ? pgsm_next.posix_memalign(out, align, n)
                                      : pgsm_slow_posix_memalign(out, align, n);
}

void *valloc(size_t n)
{
    return PGG_LIKELY(!pgsm_count(n)) ? pgsm_next.valloc(n) : pgsm_slow_valloc(n);
}

void *pvalloc(size_t n)
{
    return PGG_LIKELY(!pgsm_count(n)) ? pgsm_next.pvalloc(n) : pgsm_slow_pvalloc(n);
}

size_t malloc_usable_size(void *p)
{
    if (PGG_UNLIKELY(pgsm_is_inside(p)))
        return pgsm_object_usable(p);
    return pgsm_next.usable ? pgsm_next.usable(p) : 0;
}
