/* The allocation functions of C. Every function looks at its own frame, so that the stack of an
 * object begins with the function that called here, as in the profiles of libpgokit_heap.
 *
 * Without a plan, those that programs call most go on to jemalloc before they make a frame. What
 * they do with a plan is a function that they jump to as their last step, so that it has the frame
 * and the caller of the one that was called. (An indirect function, which would be jemalloc's own
 * without a plan, cannot be in a library that is preloaded: the C library asks for it before this
 * one is in place.) */
#include "alloc_object.h"
#include "guest_memory.h"

#include <errno.h>
#include <string.h>
#include <wchar.h>

#define HERE         pgal_group_of_stack(PGG_HERE)
#define HERE_PLANNED pgal_group_of_planned(PGG_HERE)
#define LAST_STEP    __attribute__((noinline))

PGAL_EXPORT void *malloc(size_t n);
PGAL_EXPORT void *calloc(size_t n, size_t size);
PGAL_EXPORT void *realloc(void *p, size_t n);
PGAL_EXPORT void *reallocarray(void *p, size_t n, size_t size);
PGAL_EXPORT void free(void *p);
PGAL_EXPORT void cfree(void *p);
PGAL_EXPORT void free_sized(void *p, size_t n);
PGAL_EXPORT void free_aligned_sized(void *p, size_t align, size_t n);
PGAL_EXPORT void *memalign(size_t align, size_t n);
PGAL_EXPORT void *__libc_memalign(size_t align, size_t n);
PGAL_EXPORT void *aligned_alloc(size_t align, size_t n);
PGAL_EXPORT int posix_memalign(void **out, size_t align, size_t n);
PGAL_EXPORT void *valloc(size_t n);
PGAL_EXPORT void *pvalloc(size_t n);
PGAL_EXPORT size_t malloc_usable_size(void *p);
PGAL_EXPORT char *strdup(const char *s);
PGAL_EXPORT char *__strdup(const char *s);
PGAL_EXPORT char *strndup(const char *s, size_t n);
PGAL_EXPORT char *__strndup(const char *s, size_t n);
PGAL_EXPORT wchar_t *wcsdup(const wchar_t *s);

static size_t power_of_two(size_t align)
{
    return align <= 1 ? 1 : (size_t)1 << (64 - __builtin_clzl(align - 1));
}

PGG_INLINE void *aligned(size_t n, size_t align, u32 group)
{
    void *p = align > (size_t)1 << 40 ? NULL : pgal_alloc_in(group, n, align);
    if (PGG_UNLIKELY(!p))
        errno = ENOMEM;
    return p;
}

static LAST_STEP void *planned_malloc(size_t n)
{
    return pgal_alloc_in(HERE_PLANNED, n, 0);
}

void *malloc(size_t n)
{
    return PGG_LIKELY(!pgal_planned()) ? pgal_alloc_fast(n) : planned_malloc(n);
}

static LAST_STEP void *planned_calloc(size_t n, size_t size)
{
    return pgal_calloc(n, size, HERE_PLANNED);
}

void *calloc(size_t n, size_t size)
{
    return PGG_LIKELY(!pgal_planned()) ? pgal_calloc_anywhere(n, size) : planned_calloc(n, size);
}

static LAST_STEP void *planned_realloc(void *p, size_t n)
{
    return pgal_realloc(p, n, HERE_PLANNED);
}

/* Objects of groups are also there without a plan, where compilers gave hints. */
void *realloc(void *p, size_t n)
{
    return PGG_LIKELY(!pgal_planned()) ? pgal_realloc(p, n, 0) : planned_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return pgal_realloc(p, bytes, HERE);
}

void free(void *p)
{
    pgal_free_fast(p);
}

void cfree(void *p)
{
    pgal_free(p);
}

void free_sized(void *p, size_t n)
{
    (void)n;
    pgal_free(p);
}

void free_aligned_sized(void *p, size_t align, size_t n)
{
    (void)align;
    (void)n;
    pgal_free(p);
}

void *memalign(size_t align, size_t n)
{
    return aligned(n, power_of_two(align), HERE);
}

void *__libc_memalign(size_t align, size_t n)
{
    return aligned(n, power_of_two(align), HERE);
}

void *aligned_alloc(size_t align, size_t n)
{
    if (!align || (align & (align - 1))) {
        errno = EINVAL;
        return NULL;
    }
    return aligned(n, align, HERE);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    if (align < sizeof(void *) || (align & (align - 1)))
        return EINVAL;
    void *p = align > (size_t)1 << 40 ? NULL : pgal_alloc_in(HERE, n, align);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

void *valloc(size_t n)
{
    return aligned(n, pgg_page(), HERE);
}

void *pvalloc(size_t n)
{
    return aligned(n + pgg_page() - 1 < n ? SIZE_MAX : (n + pgg_page() - 1) & ~(pgg_page() - 1),
                   pgg_page(), HERE);
}

size_t malloc_usable_size(void *p)
{
    return p ? pgal_je_sallocx(p, 0) : 0;
}

PGG_INLINE void *copy(const void *from, size_t bytes, size_t end, u32 group)
{
    char *p = pgal_alloc_in(group, bytes + end, 0);
    if (PGG_UNLIKELY(!p))
        return NULL;
    memcpy(p, from, bytes);
    memset(p + bytes, 0, end);
    return p;
}

char *strdup(const char *s)
{
    return copy(s, strlen(s), 1, HERE);
}

char *__strdup(const char *s)
{
    return copy(s, strlen(s), 1, HERE);
}

char *strndup(const char *s, size_t n)
{
    return copy(s, strnlen(s, n), 1, HERE);
}

char *__strndup(const char *s, size_t n)
{
    return copy(s, strnlen(s, n), 1, HERE);
}

wchar_t *wcsdup(const wchar_t *s)
{
    return copy(s, wcslen(s) * sizeof *s, sizeof *s, HERE);
}
