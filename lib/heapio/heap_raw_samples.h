/* What the dumps of a raw profile say of the samples that their figures stand on.
 * docs/formats/interrupted-heap.md */
#ifndef PGK_HEAP_RAW_SAMPLES_H
#define PGK_HEAP_RAW_SAMPLES_H

#include "estimate.h"
#include "heap_origin.h"
#include "heap_raw_notes.h"
#include "vec.h"

/* Put together for the process. Zeros: all objects were recorded. */
struct pgk_raw_samples {
    bool any; /* some dump is sampled */
    uint64_t made_bytes, made_objects, sample_bytes; /* by the last one that says so */
    uint64_t drawn_bytes, drawn_objects;             /* that contexts add up to */
    struct pgk_visits visits;
    PGK_VEC(struct pgk_raw_sample) contexts; /* of the reader's entries; may be shorter */
};

void pgk_raw_samples_free(struct pgk_raw_samples *samples);
/* Notes what a dump says of the process. */
void pgk_raw_samples_note(struct pgk_raw_samples *samples, const struct pgk_raw_notes *notes);
/* Adds a record of the reader's entry; false when out of memory. */
PGK_MUST_USE bool pgk_raw_samples_add(struct pgk_raw_samples *samples, size_t entry,
                                      const struct pgk_raw_sample *more);
/* Once all dumps are read: gives an entry's block its fields of samples, and counts what it has.
 * Does nothing unless the profile is sampled. */
void pgk_raw_samples_give(struct pgk_raw_samples *samples, size_t entry, struct pgk_mib *m);
/* Once that is done: what the process was. */
void pgk_raw_samples_describe(const struct pgk_raw_samples *samples,
                              struct pgk_heap_origin *origin);

#endif
