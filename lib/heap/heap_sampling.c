/* How a profile was sampled, and how sure its figures are: what the public header declares. */
#include "estimate.h"
#include "heap_model.h"
#include "opts.h"
#include "saturate.h"

bool pgk_heap_estimate(const struct pgk_heap *heap, size_t context, enum pgk_mib_id figure,
                       struct pgk_heap_estimate *estimate)
{
    return pgk_mib_estimate(pgk_heap_mib(heap, context, PGK_MIB_SPACE), figure, estimate);
}

/* A total that processes counted. Exact processes may be among the others, whose part of the
 * contexts is exact. */
static struct pgk_heap_estimate counted(uint64_t sum, uint64_t drawn, uint64_t made)
{
    const double v = (double)pgk_add_saturated(sum > drawn ? sum - drawn : 0, made);
    return (struct pgk_heap_estimate){v, v, v};
}

bool pgk_heap_sampling(const struct pgk_heap *heap, struct pgk_heap_sampling *sampling)
{
    const struct pgk_heap_origin *o = &heap->origin;
    struct pgk_mib sum = {.known = UINT64_MAX, .origin = o};
    struct pgk_heap_sampling s = {.struct_size = sizeof s,
                                  .processes = o->sampled,
                                  .sample_bytes = o->sample_bytes,
                                  .exact = o->sampled && o->counted == o->sampled};
    bool any = false;
    for (size_t i = 0; i < heap->contexts.n; i++) {
        const struct pgk_mib *m = pgk_heap_mib(heap, i, PGK_MIB_SPACE);
        any |= pgk_mib_is_sampled(m);
        for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
            if (pgk_mib_is_sum(id))
                sum.v[id] = pgk_add_saturated(sum.v[id], m->v[id]);
    }
    s.samples = sum.v[PGK_MIB_SampleCount];
    s.hits = sum.v[PGK_MIB_SampleHits];
    pgk_mib_estimate(&sum, PGK_MIB_AllocCount, &s.objects);
    pgk_mib_estimate(&sum, PGK_MIB_TotalSize, &s.bytes);
    pgk_mib_estimate(&sum, PGK_MIB_TotalAccessCount, &s.accesses);
    if (s.exact) {
        s.objects = counted(sum.v[PGK_MIB_AllocCount], o->drawn_objects, o->made_objects);
        s.bytes = counted(sum.v[PGK_MIB_TotalSize], o->drawn_bytes, o->made_bytes);
    }
    PGK_RESULT_GIVE(sampling, &s);
    return any;
}
