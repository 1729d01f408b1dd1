/* Which objects are cold, for the compiler. */
#include "pgokit/use.h"

#include "opts.h"

static const double ms_per_s = 1000, per_byte = 100;

static double mean_of(const struct pgk_heap *heap, size_t context, enum pgk_mib_id id)
{
    uint64_t objects = pgk_heap_value(heap, context, PGK_MIB_AllocCount);
    return objects ? (double)pgk_heap_value(heap, context, id) / (double)objects : 0;
}

static double seconds_of(const struct pgk_heap *heap, size_t context)
{
    return mean_of(heap, context, PGK_MIB_TotalLifetime) / ms_per_s;
}

/* Accesses per byte and second, as LLVM has it. */
static double density_of(const struct pgk_heap *heap, size_t context)
{
    return mean_of(heap, context, PGK_MIB_TotalLifetimeAccessDensity) / per_byte;
}

/* Accesses per byte over the life of an object. Files for compilers hold the density alone; of
 * objects that lived less than the clock tells it is what they had in all. */
static double heat_of(const struct pgk_heap *heap, size_t context)
{
    uint64_t bytes = pgk_heap_value(heap, context, PGK_MIB_TotalSize);
    if (bytes && pgk_heap_knows(heap, context, PGK_MIB_TotalAccessCount))
        return (double)pgk_heap_value(heap, context, PGK_MIB_TotalAccessCount) / (double)bytes;
    double seconds = seconds_of(heap, context);
    return density_of(heap, context) * (seconds > 0 ? seconds : 1);
}

/* Of all bytes of the program. */
static double mean_heat(const struct pgk_heap *heap)
{
    double accesses = 0, bytes = 0;
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++) {
        double size = (double)pgk_heap_value(heap, i, PGK_MIB_TotalSize);
        accesses += heat_of(heap, i) * size;
        bytes += size;
    }
    return bytes > 0 ? accesses / bytes : 0;
}

static enum pgk_use class_of(const struct pgk_heap *heap, size_t i,
                             const struct pgk_use_limits *limits, double mean)
{
    if (!pgk_heap_knows(heap, i, PGK_MIB_TotalLifetimeAccessDensity) &&
        !pgk_heap_knows(heap, i, PGK_MIB_TotalAccessCount))
        return PGK_USE_UNKNOWN;
    bool hardly = limits->cold_density > 0 ? density_of(heap, i) < limits->cold_density
                                           : heat_of(heap, i) < mean * limits->cold_share;
    if (hardly && seconds_of(heap, i) >= limits->cold_lifetime)
        return PGK_USE_HINTED;
    if (limits->hot_density > 0 && density_of(heap, i) > limits->hot_density)
        return PGK_USE_GIVEN;
    return hardly ? PGK_USE_SHORT_LIVED : PGK_USE_ACCESSED;
}

int pgk_use_classify(const struct pgk_heap *heap, const struct pgk_use_limits *given,
                     uint8_t *classes, struct pgk_err *err)
{
    struct pgk_use_limits limits;
    PGK_TRY(PGK_OPTS_TAKE(&limits, given, err));
    double mean = mean_heat(heap);
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++)
        classes[i] = (uint8_t)class_of(heap, i, &limits, mean);
    return 0;
}
