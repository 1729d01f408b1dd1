/* Sums over contexts, also for a profile of which only a part was read. */
#include "heap_model.h"
#include "opts.h"

static const double ms_per_s = 1000, per_byte = 100;

static double mean_of(const struct pgk_mib *mib, enum pgk_mib_id id)
{
    uint64_t objects = mib->v[PGK_MIB_AllocCount];
    return objects ? (double)mib->v[id] / (double)objects : 0;
}

double pgk_mib_seconds(const struct pgk_mib *mib)
{
    return mean_of(mib, PGK_MIB_TotalLifetime) / ms_per_s;
}

double pgk_mib_density(const struct pgk_mib *mib)
{
    return mean_of(mib, PGK_MIB_TotalLifetimeAccessDensity) / per_byte;
}

double pgk_mib_heat(const struct pgk_mib *mib)
{
    uint64_t bytes = mib->v[PGK_MIB_TotalSize];
    if (bytes && mib->known >> PGK_MIB_TotalAccessCount & 1)
        return (double)mib->v[PGK_MIB_TotalAccessCount] / (double)bytes;
    double seconds = pgk_mib_seconds(mib);
    return pgk_mib_density(mib) * (seconds > 0 ? seconds : 1);
}

void pgk_heap_whole_add(struct pgk_heap_whole *whole, const struct pgk_mib *mib)
{
    uint64_t bytes = mib->v[PGK_MIB_TotalSize];
    whole->contexts++;
    whole->bytes = whole->bytes + bytes < bytes ? UINT64_MAX : whole->bytes + bytes;
    whole->sizes += (double)bytes;
    whole->accesses += pgk_mib_heat(mib) * (double)bytes;
}

static bool has_columns(const struct pgk_heap *heap)
{
    for (size_t i = 0; i < heap->frames.n; i++)
        if (heap->frames.v[i].kind != PGK_FRAME_ADDRESS && (uint32_t)heap->frames.v[i].where)
            return true;
    return false;
}

struct pgk_heap_whole pgk_heap_whole(const struct pgk_heap *heap)
{
    if (heap->whole.contexts)
        return heap->whole;
    struct pgk_heap_whole whole = {.columns = has_columns(heap)};
    for (size_t i = 0; i < heap->contexts.n; i++)
        pgk_heap_whole_add(&whole, pgk_heap_mib(heap, i, PGK_MIB_SPACE));
    return whole;
}

void pgk_heap_sum(const struct pgk_heap *heap, struct pgk_heap_sum *totals)
{
    const struct pgk_heap_whole whole = pgk_heap_whole(heap);
    const struct pgk_heap_sum full = {
        .struct_size = sizeof full,
        .contexts = whole.contexts,
        .bytes = whole.bytes,
        .accesses_per_byte = whole.sizes > 0 ? whole.accesses / whole.sizes : 0,
        .columns = whole.columns};
    PGK_RESULT_GIVE(totals, &full);
}
