/* jemalloc's own functions, for programs of which it is the allocator: they may get objects of the
 * range. What they allocate is not sampled. */
#include "guest_bytes.h"
#include "sampler_next.h"
#include "sampler_object.h"

PGSM_EXPORT void dallocx(void *p, int flags);
PGSM_EXPORT void sdallocx(void *p, size_t n, int flags);
PGSM_EXPORT size_t sallocx(const void *p, int flags);
PGSM_EXPORT void *rallocx(void *p, size_t n, int flags);
PGSM_EXPORT size_t xallocx(void *p, size_t n, size_t more, int flags);

void dallocx(void *p, int flags)
{
    if (PGG_UNLIKELY(pgsm_is_inside(p)))
        pgsm_end(p);
    else if (pgsm_next.dallocx)
        pgsm_next.dallocx(p, flags);
}

void sdallocx(void *p, size_t n, int flags)
{
    if (PGG_UNLIKELY(pgsm_is_inside(p)))
        pgsm_end(p);
    else if (pgsm_next.sdallocx)
        pgsm_next.sdallocx(p, n, flags);
}

size_t sallocx(const void *p, int flags)
{
    if (PGG_UNLIKELY(pgsm_is_inside(p)))
        return pgsm_object_usable(p);
    return pgsm_next.sallocx ? pgsm_next.sallocx(p, flags) : 0;
}

/* The object moves to jemalloc, which knows what the flags mean. */
void *rallocx(void *p, size_t n, int flags)
{
    if (PGG_LIKELY(!pgsm_is_inside(p)))
        return pgsm_next.rallocx ? pgsm_next.rallocx(p, n, flags) : NULL;
    const size_t had = pgsm_object_usable(p);
    void *to = pgsm_next.mallocx ? pgsm_next.mallocx(n, flags) : NULL;
    if (!to)
        return NULL;
    pgg_copy(to, p, had < n ? had : n);
    pgsm_end(p);
    return to;
}

size_t xallocx(void *p, size_t n, size_t more, int flags)
{
    if (PGG_UNLIKELY(pgsm_is_inside(p)))
        return pgsm_object_usable(p);
    return pgsm_next.xallocx ? pgsm_next.xallocx(p, n, more, flags) : 0;
}
