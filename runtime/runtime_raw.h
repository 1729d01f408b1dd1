/* Records of a raw profile, as they lie in the file. */
#ifndef PGRT_RAW_H
#define PGRT_RAW_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

#include "heap_notes.h"
#include "heap_raw_versions.def"
struct pgrt_raw_header {
#define PGK_RAW_HEADER(name, type, meaning) type name;
#include "heap_raw.def"
#undef PGK_RAW_HEADER
};
#define PGRT_RAW_MAGIC UINT64_C(0xff6d70726f667281)

/* What is known of a context. */
struct __attribute__((packed)) pgrt_mib {
    u64 stack_id;
#define PGK_MIB(name, type, first, sound, tag, step, across, unit, meaning) type name;
#include "heap_mib.def"
#undef PGK_MIB
};

/* How much of a context's objects was touched. */
struct pgrt_touched {
#define PGK_TOUCHED(name, meaning) u64 name;
#include "heap_notes.def"
#undef PGK_TOUCHED
};

/* The objects that a thread has allocated in a context, from which a reader finds the live ones
 * after a kill: over all threads, the objects and bytes allocated, less those in the MIBs. start_ms
 * covers only live objects. */
struct pgrt_allocated {
#define PGK_ALLOCATED(name, type, meaning) type name;
#include "heap_notes.def"
#undef PGK_ALLOCATED
    struct pgrt_touched use; /* of those the thread has ended */
};

static inline u32 pgrt_context_of(const struct pgrt_allocated *b)
{
    return b->context & ~PGK_NOTES_CUT_STACK;
}

struct pgrt_facts {
#define PGK_FACT(name, meaning) u64 name;
#include "heap_notes.def"
#undef PGK_FACT
};
/* In front of the MIB section. docs/formats/interrupted-heap.md */
struct pgrt_notes {
    struct pgrt_facts facts;
    struct pgk_notes_part part[PGK_NOTES_PARTS];
    struct pgk_notes_end end;
};
/* Of the series. */
struct pgrt_point {
#define PGK_POINT(name, meaning) u64 name;
#include "heap_notes.def"
#undef PGK_POINT
};
/* Of a point, by context. */
struct pgrt_share {
#define PGK_SHARE(name, meaning) u64 name;
#include "heap_notes.def"
#undef PGK_SHARE
};
struct pgrt_breakdown {
#define PGK_BREAKDOWN(name, meaning) u64 name;
#include "heap_notes.def"
#undef PGK_BREAKDOWN
    struct pgrt_share of[PGK_SHARES_MAX];
};
/* What no pointer led to. */
struct pgrt_unreachable {
#define PGK_UNREACHABLE(name, meaning) u64 name;
#include "heap_notes.def"
#undef PGK_UNREACHABLE
};
/* Of a context, in a dump. */
struct pgrt_life {
#define PGK_LIFE(name, meaning) u64 name;
#include "heap_notes.def"
#undef PGK_LIFE
    struct pgrt_touched use;
    struct pgrt_unreachable lost; /* with the flag UNREACHABLE */
};
/* Of a context whose figures are estimates. */
struct pgrt_sample {
#define PGK_SAMPLE(name, meaning) u64 name;
#include "heap_notes.def"
#undef PGK_SAMPLE
};
_Static_assert(sizeof(struct pgrt_facts) == 104 && sizeof(struct pgrt_allocated) == 96 &&
                   sizeof(struct pgrt_life) == 96 && sizeof(struct pgrt_point) == 40 &&
                   sizeof(struct pgrt_breakdown) == 400 && sizeof(struct pgrt_sample) == 48,
               "records as heap_notes.def has them");
enum {
#define PGK_NOTES_FLAG(name, value, meaning) PGRT_NOTE_##name = value,
#include "heap_notes.def"
#undef PGK_NOTES_FLAG
};

#pragma GCC visibility pop
#endif
