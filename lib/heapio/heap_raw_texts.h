/* The texts in the notes of a raw heap profile: the process, and the paths of its modules.
 * docs/formats/interrupted-heap.md */
#ifndef PGK_HEAP_RAW_TEXTS_H
#define PGK_HEAP_RAW_TEXTS_H

#include "heap_raw_notes.h"
#include "heap_recording.h"

/* What all dumps of a file say; a zeroed struct is empty. */
struct pgk_raw_texts {
    struct pgk_recorded recorded;
    PGK_VEC(uint32_t) paths;   /* string ids, by the number of the segment */
};
void pgk_raw_texts_free(struct pgk_raw_texts *texts);

/* Adds those of dump number `dump`; what another dump said first stays. */
PGK_MUST_USE int pgk_raw_texts_read(struct pgk_raw_texts *texts, struct pgk_intern *strings,
                                    struct pgk_cursor *c, uint32_t dump,
                                    const struct pgk_raw_notes *notes, struct pgk_err *err);

#endif
