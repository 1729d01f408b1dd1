/* Objects that were alive when a process was killed. */
#include "alive.h"

#include "saturate.h"

#define BIT(field) (UINT64_C(1) << PGK_MIB_##field)
#define KNOWN_OF_ALIVE                                                                        \
    (BIT(AllocCount) | BIT(TotalSize) | BIT(MinSize) | BIT(MaxSize) | BIT(AllocTimestamp) |   \
     BIT(DeallocTimestamp) | BIT(TotalLifetime) | BIT(MinLifetime) | BIT(MaxLifetime))

/* A sum over `closed` objects becomes one over n more of the same mean. */
static void extend(uint64_t *sum, uint64_t closed, uint64_t n)
{
    *sum = pgk_add_saturated(*sum, pgk_multiply_saturated(*sum / closed, n));
}

uint64_t pgk_alive_add(const struct pgk_alive *alive, uint32_t end, struct pgk_mib *m)
{
    const uint64_t n = alive->objects, closed = m->v[PGK_MIB_AllocCount];
    if (!n || n > INT32_MAX) /* a kill came between the two counts of an object */
        return 0;
    const uint64_t bytes = alive->bytes <= INT64_MAX ? alive->bytes : 0;
    const uint64_t lived = n * end > alive->start_ms ? n * end - alive->start_ms : 0;
    uint64_t size = bytes / n, life = lived / n;
    size = size < UINT32_MAX ? size : UINT32_MAX;
    life = life < end ? life : end;
    uint64_t *v = m->v;
    if (!m->known) {
        m->known = KNOWN_OF_ALIVE;
        v[PGK_MIB_MinSize] = v[PGK_MIB_MaxSize] = size;
        v[PGK_MIB_AllocTimestamp] = end - life;
        v[PGK_MIB_MinLifetime] = v[PGK_MIB_MaxLifetime] = life;
        v[PGK_MIB_AllocCpuId] = v[PGK_MIB_DeallocCpuId] = UINT32_MAX;
    } else if (closed) {
        extend(&v[PGK_MIB_TotalAccessDensity], closed, n);
        extend(&v[PGK_MIB_TotalLifetimeAccessDensity], closed, n);
    }
    v[PGK_MIB_AllocCount] += n;
    v[PGK_MIB_TotalSize] = pgk_add_saturated(v[PGK_MIB_TotalSize], bytes);
    v[PGK_MIB_TotalLifetime] = pgk_add_saturated(v[PGK_MIB_TotalLifetime], life * n);
    v[PGK_MIB_DeallocTimestamp] = end;
    v[PGK_MIB_MinSize] = v[PGK_MIB_MinSize] < size ? v[PGK_MIB_MinSize] : size;
    v[PGK_MIB_MaxSize] = v[PGK_MIB_MaxSize] > size ? v[PGK_MIB_MaxSize] : size;
    v[PGK_MIB_MinLifetime] = v[PGK_MIB_MinLifetime] < life ? v[PGK_MIB_MinLifetime] : life;
    v[PGK_MIB_MaxLifetime] = v[PGK_MIB_MaxLifetime] > life ? v[PGK_MIB_MaxLifetime] : life;
    return n;
}
