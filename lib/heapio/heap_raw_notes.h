/* The data that pgokit's runtime adds to a raw heap profile: records/heap_notes.def.
 * docs/formats/interrupted-heap.md */
#ifndef PGK_HEAP_RAW_NOTES_H
#define PGK_HEAP_RAW_NOTES_H

#include "cursor.h"
#include "pgokit/heap.h"

#include "heap_notes.def"

struct pgk_raw_notes {
#define PGK_NOTE(name, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_NOTE
};
enum {
#define PGK_NOTES_FLAG(name, value, meaning) PGK_NOTE_##name = value,
#include "heap_notes.def"
#undef PGK_NOTES_FLAG
};

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

/* The objects that a thread began in a context. */
struct pgk_raw_begun {
#define PGK_BEGUN(name, type, meaning) uint64_t name;
#define PGK_BEGUN_TIMES PGK_BEGUN
#include "heap_notes.def"
#undef PGK_BEGUN
#undef PGK_BEGUN_TIMES
    struct pgk_raw_touched use; /* with the flag TOUCHED */
};

/* The heap over time, with the flag TIMES. */
struct pgk_raw_times {
#define PGK_TIME_BREAKDOWNS(name, meaning) uint64_t name; /* with the flag BREAKDOWNS */
#include "heap_notes.def"
#undef PGK_TIME_BREAKDOWNS
#define PGK_TIME(name, meaning) uint64_t name;
#include "heap_notes.def"
#undef PGK_TIME
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
    struct pgk_raw_touched use; /* with the flag TOUCHED */
    struct pgk_raw_unreachable lost; /* with the flag UNREACHABLE */
};

/* The notes of dump number `dump`, whose MIB section is at `mib_off` and whose segments end at
 * `segments_end`, from its start on, which is that of the file under `c`. All zeros where there
 * are none: other writers leave no gap. */
PGK_MUST_USE int pgk_raw_notes_read(struct pgk_cursor *c, uint32_t dump, uint64_t mib_off,
                                    uint64_t segments_end, struct pgk_raw_notes *notes,
                                    struct pgk_err *err);
/* The times in front of notes that were read, whose flag TIMES is set among these. */
PGK_MUST_USE int pgk_raw_times_read(struct pgk_cursor *c, uint32_t dump, uint64_t flags,
                                    uint64_t mib_off, uint64_t segments_end,
                                    struct pgk_raw_times *times, struct pgk_err *err);
/* The next entry at the cursor: of the contexts begun, of contexts over time, of points, of
 * breakdowns. `flags` are those of the notes. */
struct pgk_raw_begun pgk_raw_begun_read(struct pgk_cursor *c, uint64_t flags);
struct pgk_raw_life pgk_raw_life_read(struct pgk_cursor *c, uint64_t flags);
struct pgk_heap_point pgk_raw_point_read(struct pgk_cursor *c);
PGK_MUST_USE int pgk_raw_breakdown_read(struct pgk_cursor *c, const char *record,
                                        struct pgk_raw_breakdown *b, struct pgk_err *err);

#endif
