/* What is left to do where the count is down, or an object is of the range. */
#include "sampler_slow.h"

#include "guest_bytes.h"
#include "sampler_new.h"
#include "sampler_next.h"
#include "sampler_object.h"

#include <errno.h>

static bool is_power(size_t align)
{
    return align && !(align & (align - 1));
}

static size_t at_least(size_t align)
{
    return align > PGSM_ALIGN ? align : PGSM_ALIGN;
}

void *pgsm_slow_malloc(size_t n)
{
    void *p = pgsm_begin(n, PGSM_ALIGN, false, PGG_HERE);
    return p ? p : pgsm_next.malloc(n);
}

void *pgsm_slow_calloc(size_t n, size_t size)
{
    void *p = pgsm_begin(n * size, PGSM_ALIGN, true, PGG_HERE);
    return p ? p : pgsm_next.calloc(n, size);
}

/* All that the program may have written is copied. Without a way to ask for its size, the object
 * stays where it is. */
void *pgsm_slow_realloc(void *p, size_t n)
{
    const size_t had = p && pgsm_next.usable ? pgsm_next.usable(p) : 0;
    if (p && !had) {
        pgsm_begin(SIZE_MAX, PGSM_ALIGN, false, PGG_HERE);
        return pgsm_next.realloc(p, n);
    }
    void *to = pgsm_begin(n, PGSM_ALIGN, false, PGG_HERE);
    if (!to)
        return pgsm_next.realloc(p, n);
    if (p) {
        pgg_copy(to, p, had < n ? had : n);
        pgsm_next.free(p);
    }
    return to;
}

void *pgsm_slow_realloc_inside(void *p, size_t n)
{
    const size_t had = pgsm_object_usable(p);
    void *to;
    if (!n) { /* some allocators return an object, others do not */
        to = pgsm_next.malloc(1);
        to = to ? pgsm_next.realloc(to, 0) : NULL;
        pgsm_end(p);
        return to;
    }
    if (pgsm_again(p, n, PGG_HERE, &to))
        return to;
    to = pgsm_next.malloc(n);
    if (!to)
        return NULL;
    pgg_copy(to, p, had < n ? had : n);
    pgsm_end(p);
    return to;
}

void *pgsm_slow_memalign(size_t align, size_t n)
{
    void *p = is_power(align) ? pgsm_begin(n, at_least(align), false, PGG_HERE) : NULL;
    return p ? p : pgsm_next.memalign(align, n);
}

void *pgsm_slow_aligned_alloc(size_t align, size_t n)
{
    void *p = is_power(align) ? pgsm_begin(n, at_least(align), false, PGG_HERE) : NULL;
    return p ? p : pgsm_next.aligned_alloc(align, n);
}

int pgsm_slow_posix_memalign(void **out, size_t align, size_t n)
{
    void *p = is_power(align) && align >= sizeof(void *)
                  ? pgsm_begin(n, at_least(align), false, PGG_HERE)
                  : NULL;
    if (!p)
        return pgsm_next.posix_memalign(out, align, n);
    *out = p;
    return 0;
}

void *pgsm_slow_valloc(size_t n)
{
    void *p = pgsm_begin(n, PGG_PAGE, false, PGG_HERE);
    return p ? p : pgsm_next.valloc(n);
}

void *pgsm_slow_pvalloc(size_t n)
{
    void *p = n < PTRDIFF_MAX ? pgsm_begin(pgg_whole_pages(n), PGG_PAGE, false, PGG_HERE) : NULL;
    return p ? p : pgsm_next.pvalloc(n);
}

void *pgsm_slow_new(size_t n, u32 which)
{
    void *p = pgsm_begin(n, PGSM_ALIGN, false, PGG_HERE);
    return p ? p : pgsm_new_next(n, which);
}

void *pgsm_slow_new_aligned(size_t n, size_t align, u32 which)
{
    void *p = is_power(align) ? pgsm_begin(n, at_least(align), false, PGG_HERE) : NULL;
    return p ? p : pgsm_new_aligned_next(n, align, which);
}
