/* Which objects are cold, for the compiler. */
#include "pgokit/use.h"

#include "estimate.h"
#include "opts.h"

static bool knows(const struct pgk_mib *mib, enum pgk_mib_id id)
{
    return mib->known >> id & 1;
}

static enum pgk_verdict is_cold(const struct pgk_mib *mib, const struct pgk_use_limits *limits,
                                double mean)
{
    struct pgk_heap_estimate a, life = pgk_mib_estimate_life(mib);
    const double bytes = (double)mib->v[PGK_MIB_TotalSize], per_s = 1000;
    const bool by_density = limits->cold_density > 0 || !bytes ||
                            !pgk_mib_estimate(mib, PGK_MIB_TotalAccessCount, &a);
    const enum pgk_verdict often =
        by_density ? pgk_verdict_reaches(pgk_mib_estimate_density(mib), limits->cold_density)
                   : pgk_verdict_reaches(a, mean * limits->cold_share * bytes);
    return pgk_verdict_both(pgk_verdict_not(often),
                            pgk_verdict_reaches(life, limits->cold_lifetime * per_s));
}

/* Samples may leave it open. */
static bool is_undecided(const struct pgk_mib *mib, const struct pgk_use_limits *limits,
                         double mean)
{
    if (!pgk_mib_is_sampled(mib))
        return false;
    const enum pgk_verdict cold = is_cold(mib, limits, mean);
    return cold == PGK_VERDICT_UNDECIDED ||
           (cold == PGK_VERDICT_NO && limits->hot_density > 0 &&
            pgk_verdict_reaches(pgk_mib_estimate_density(mib), limits->hot_density) ==
                PGK_VERDICT_UNDECIDED);
}

/* `mean`: accesses per byte, of all bytes of the program. */
static enum pgk_use class_of(const struct pgk_mib *mib, const struct pgk_use_limits *limits,
                             double mean)
{
    if (!knows(mib, PGK_MIB_TotalLifetimeAccessDensity) && !knows(mib, PGK_MIB_TotalAccessCount))
        return PGK_USE_UNKNOWN;
    if (is_undecided(mib, limits, mean))
        return PGK_USE_UNDECIDED;
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
