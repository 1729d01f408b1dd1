/* What the dumps of a raw profile say of the samples that their figures stand on.
 * docs/formats/interrupted-heap.md */
#include "heap_raw_samples.h"

#include "saturate.h"

void pgk_raw_samples_free(struct pgk_raw_samples *samples)
{
    pgk_vec_free(&samples->contexts);
}

/* What was made is that of the process so far, so that the last dump says it best. */
void pgk_raw_samples_note(struct pgk_raw_samples *samples, const struct pgk_raw_notes *notes)
{
    if (!(notes->flags & PGK_NOTE_SAMPLED))
        return;
    samples->any = true;
    if (notes->made_objects) {
        samples->made_bytes = notes->made_bytes;
        samples->made_objects = notes->made_objects;
    }
    if (notes->sample_bytes > samples->sample_bytes)
        samples->sample_bytes = notes->sample_bytes;
}

bool pgk_raw_samples_add(struct pgk_raw_samples *samples, size_t entry,
                         const struct pgk_raw_sample *more)
{
    while (samples->contexts.n <= entry)
        if (!pgk_vec_push(&samples->contexts, (struct pgk_raw_sample){0}))
            return false;
    struct pgk_raw_sample *to = &samples->contexts.v[entry];
#define PGK_SAMPLE(name, meaning) to->name = pgk_add_saturated(to->name, more->name);
#include "heap_notes.def"
#undef PGK_SAMPLE
    to->stack_id = more->stack_id;
    return true;
}

void pgk_raw_samples_give(struct pgk_raw_samples *samples, size_t entry, struct pgk_mib *m)
{
    static const struct pgk_raw_sample none;
    const struct pgk_raw_sample *s =
        entry < samples->contexts.n ? &samples->contexts.v[entry] : &none;
    if (!samples->any)
        return;
    pgk_mib_set(m, PGK_MIB_SampleCount, s->samples);
    pgk_mib_set(m, PGK_MIB_SampleHits, s->hits);
    pgk_mib_set(m, PGK_MIB_CountVariance, s->count_variance);
    pgk_mib_set(m, PGK_MIB_SizeVariance, s->size_variance);
    pgk_mib_set(m, PGK_MIB_AccessVariance, s->access_variance);
    samples->drawn_bytes = pgk_add_saturated(samples->drawn_bytes, m->v[PGK_MIB_TotalSize]);
    samples->drawn_objects = pgk_add_saturated(samples->drawn_objects, m->v[PGK_MIB_AllocCount]);
    pgk_visits_add(&samples->visits, m);
}

void pgk_raw_samples_describe(const struct pgk_raw_samples *samples, struct pgk_heap_origin *origin)
{
    if (!samples->any)
        return;
    origin->sampled = 1;
    origin->sample_bytes = samples->sample_bytes;
    origin->visit_accesses = pgk_visits_mean(&samples->visits);
    if (!samples->made_objects)
        return;
    origin->counted = 1;
    origin->made_bytes = samples->made_bytes;
    origin->made_objects = samples->made_objects;
    origin->drawn_bytes = samples->drawn_bytes;
    origin->drawn_objects = samples->drawn_objects;
}
