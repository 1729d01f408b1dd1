/* The allocation functions of C. Every function passes its own frame on, so that the stack of an
 * object begins with the function that called here. */
#include "runtime_access.h"
#include "runtime_alloc.h"

#include <errno.h>
#include <wchar.h>


PGRT_EXPORT void *malloc(size_t n);
PGRT_EXPORT void *calloc(size_t n, size_t size);
PGRT_EXPORT void *realloc(void *p, size_t n);
PGRT_EXPORT void *reallocarray(void *p, size_t n, size_t size);
PGRT_EXPORT void free(void *p);
PGRT_EXPORT void cfree(void *p);
PGRT_EXPORT void free_sized(void *p, size_t n);
PGRT_EXPORT void free_aligned_sized(void *p, size_t align, size_t n);
PGRT_EXPORT void *memalign(size_t align, size_t n);
PGRT_EXPORT void *__libc_memalign(size_t align, size_t n);
PGRT_EXPORT void *aligned_alloc(size_t align, size_t n);
PGRT_EXPORT int posix_memalign(void **out, size_t align, size_t n);
PGRT_EXPORT void *valloc(size_t n);
PGRT_EXPORT void *pvalloc(size_t n);
PGRT_EXPORT size_t malloc_usable_size(void *p);
PGRT_EXPORT char *strdup(const char *s);
PGRT_EXPORT char *__strdup(const char *s);
PGRT_EXPORT char *strndup(const char *s, size_t n);
PGRT_EXPORT char *__strndup(const char *s, size_t n);
PGRT_EXPORT wchar_t *wcsdup(const wchar_t *s);

PGG_INLINE void *or_enomem(void *p)
{
    if (PGG_UNLIKELY(!p))
        errno = ENOMEM;
    return p;
}

void *malloc(size_t n)
{
    return or_enomem(pgrt_alloc(n, 0, false, PGG_HERE));
}

void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return or_enomem(NULL);
    return or_enomem(pgrt_alloc(bytes, 0, true, PGG_HERE));
}

void *realloc(void *p, size_t n)
{
    void *q = pgrt_realloc(p, n, PGG_HERE);
    return q || (p && !n) ? q : or_enomem(q);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return or_enomem(NULL);
    void *q = pgrt_realloc_for(p, bytes, PGG_HERE);
    return q || (p && !bytes) ? q : or_enomem(q);
}

void free(void *p)
{
    pgrt_free(p);
}

void cfree(void *p)
{
    pgrt_free(p);
}

void free_sized(void *p, size_t n)
{
    (void)n;
    pgrt_free(p);
}

void free_aligned_sized(void *p, size_t align, size_t n)
{
    (void)align;
    (void)n;
    pgrt_free(p);
}

static size_t power_of_two(size_t align)
{
    return align <= 1 ? 1 : (size_t)1 << (64 - __builtin_clzl(align - 1));
}

void *memalign(size_t align, size_t n)
{
    if (align > (size_t)1 << 40)
        return or_enomem(NULL);
    return or_enomem(pgrt_alloc(n, power_of_two(align), false, PGG_HERE));
}

void *__libc_memalign(size_t align, size_t n)
{
    if (align > (size_t)1 << 40)
        return or_enomem(NULL);
    return or_enomem(pgrt_alloc(n, power_of_two(align), false, PGG_HERE));
}

void *aligned_alloc(size_t align, size_t n)
{
    if (!align || (align & (align - 1)) || align > (size_t)1 << 40) {
        errno = EINVAL;
        return NULL;
    }
    return or_enomem(pgrt_alloc(n, align, false, PGG_HERE));
}

int posix_memalign(void **out, size_t align, size_t n)
{
    if (align < sizeof(void *) || (align & (align - 1)) || align > (size_t)1 << 40)
        return EINVAL;
    void *p = pgrt_alloc(n, align, false, PGG_HERE);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

void *valloc(size_t n)
{
    return or_enomem(pgrt_alloc(n, pgg_page(), false, PGG_HERE));
}

void *pvalloc(size_t n)
{
    const size_t page = pgg_page(), bytes = (n + page - 1) & ~(page - 1);
    if (bytes < n)
        return or_enomem(NULL);
    return or_enomem(pgrt_alloc(bytes ? bytes : page, page, false, PGG_HERE));
}

size_t malloc_usable_size(void *p)
{
    return pgrt_size(p);
}

/* The source is read up to its end, the copy is not counted. */
static char *copy_string(const char *s, size_t max, const void *frame)
{
    size_t n = pgg_find_byte((const unsigned char *)s, 0, max);
    pgrt_count_range(s, n < max ? n + 1 : n);
    char *copy = or_enomem(pgrt_alloc_for(n + 1, frame));
    if (copy) {
        pgg_copy_fast(copy, s, n);
        copy[n] = 0;
    }
    return copy;
}

char *strdup(const char *s)
{
    return copy_string(s, SIZE_MAX, PGG_HERE);
}

char *__strdup(const char *s)
{
    return copy_string(s, SIZE_MAX, PGG_HERE);
}

char *strndup(const char *s, size_t n)
{
    return copy_string(s, n, PGG_HERE);
}

char *__strndup(const char *s, size_t n)
{
    return copy_string(s, n, PGG_HERE);
}

wchar_t *wcsdup(const wchar_t *s)
{
    size_t n = 0;
    while (s[n]) {
        n++;
        pgg_compiler_barrier();
    }
    size_t bytes = (n + 1) * sizeof *s;
    pgrt_count_range(s, bytes);
    wchar_t *copy = or_enomem(pgrt_alloc_for(bytes, PGG_HERE));
    if (copy)
        pgg_copy_fast(copy, s, bytes);
    return copy;
}
