/* The notes of pgokit's runtime in a raw heap profile: records/heap_notes.def.
 * docs/formats/interrupted-heap.md */
#ifndef PGK_HEAP_RAW_NOTES_H
#define PGK_HEAP_RAW_NOTES_H

#include "cursor.h"
#include "pgokit/heap.h"

#include "heap_notes.h"

struct pgk_raw_notes {
    bool there;
#define PGK_FACT(name, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_FACT
    struct pgk_notes_part part[PGK_NOTES_PARTS]; /* all zeros: it is not there */
};
enum {
#define PGK_NOTES_FLAG(name, value, meaning) PGK_NOTE_##name = value,
#include "heap_notes.def"
#undef PGK_NOTES_FLAG
};

/* Is it of a thread of a process that had not written its last dump? */
static inline bool pgk_raw_notes_of_sheet(const struct pgk_raw_notes *notes)
{
    return notes->part[PGK_NOTES_ALLOCATED].off != 0;
}

/* How much of a context's objects was touched. */
struct pgk_raw_touched {
#define PGK_TOUCHED(name, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_TOUCHED
};

/* Objects that no pointer led to when the process ended. */
struct pgk_raw_unreachable {
#define PGK_UNREACHABLE(name, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_UNREACHABLE
};

/* The objects that a thread allocated in a context. */
struct pgk_raw_allocated {
#define PGK_ALLOCATED(name, type, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_ALLOCATED
    struct pgk_raw_touched use;
};

/* The bytes that contexts held at a point. */
struct pgk_raw_share {
#define PGK_SHARE(name, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_SHARE
};
struct pgk_raw_breakdown {
#define PGK_BREAKDOWN(name, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_BREAKDOWN
    struct pgk_raw_share of[PGK_SHARES_MAX];
};

/* A context over time, in a finished dump. */
struct pgk_raw_life {
#define PGK_LIFE(name, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_LIFE
    struct pgk_raw_touched use;
    struct pgk_raw_unreachable lost; /* with the flag UNREACHABLE */
};

/* How sure the figures of a context are. */
struct pgk_raw_sample {
#define PGK_SAMPLE(name, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_SAMPLE
};

/* The notes of dump number `dump`, whose MIB section is at `mib_off` and whose segments end at
 * `segments_end`, from its start on, which is that of the file under `c`. All zeros where there
 * are none: other writers leave no gap. Parts lie between segments and MIBs. */
PGK_MUST_USE int pgk_raw_notes_read(struct pgk_cursor *c, uint32_t dump, uint64_t mib_off,
                                    uint64_t segments_end, struct pgk_raw_notes *notes,
                                    struct pgk_err *err);
/* Goes to the first record of a part; how many there are. */
uint64_t pgk_raw_part_open(struct pgk_cursor *c, const struct pgk_raw_notes *notes,
                           enum pgk_notes_parts part);
/* The next record at the cursor of the part that it is of. */
struct pgk_raw_allocated pgk_raw_allocated_read(struct pgk_cursor *c,
                                                const struct pgk_raw_notes *notes);
struct pgk_raw_life pgk_raw_life_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes);
struct pgk_heap_point pgk_raw_point_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes);
struct pgk_raw_sample pgk_raw_sample_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes);
uint64_t pgk_raw_cut_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes);
PGK_MUST_USE int pgk_raw_breakdown_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes,
                                        const char *record, struct pgk_raw_breakdown *b,
                                        struct pgk_err *err);

#endif
