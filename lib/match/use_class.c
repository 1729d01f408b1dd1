/* Which objects are cold, for the compiler. */
#include "pgokit/use.h"

#include "mib.h"
#include "opts.h"

static bool knows(const struct pgk_mib *mib, enum pgk_mib_id id)
{
    return mib->known >> id & 1;
}

/* `mean`: accesses per byte, of all bytes of the program. */
static enum pgk_use class_of(const struct pgk_mib *mib, const struct pgk_use_limits *limits,
                             double mean)
{
    if (!knows(mib, PGK_MIB_TotalLifetimeAccessDensity) && !knows(mib, PGK_MIB_TotalAccessCount))
        return PGK_USE_UNKNOWN;
    bool hardly = limits->cold_density > 0 ? pgk_mib_density(mib) < limits->cold_density
                                           : pgk_mib_heat(mib) < mean * limits->cold_share;
    if (hardly && pgk_mib_seconds(mib) >= limits->cold_lifetime)
        return PGK_USE_HINTED;
    if (limits->hot_density > 0 && pgk_mib_density(mib) > limits->hot_density)
        return PGK_USE_GIVEN;
    return hardly ? PGK_USE_SHORT_LIVED : PGK_USE_ACCESSED;
}

int pgk_use_classify(const struct pgk_heap *heap, const struct pgk_use_limits *given,
                     uint8_t *classes, struct pgk_err *err)
{
    struct pgk_use_limits limits;
    PGK_TRY(PGK_OPTS_TAKE(&limits, given, err));
    struct pgk_heap_sum totals = {.struct_size = sizeof totals};
    pgk_heap_sum(heap, &totals);
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++)
        classes[i] = (uint8_t)class_of(pgk_heap_mib(heap, i, PGK_MIB_SPACE), &limits,
                                       totals.accesses_per_byte);
    return 0;
}
