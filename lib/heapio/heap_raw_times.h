/* The heap over time, from the dumps and sheets of a raw profile: put together for the process that
 * wrote them. docs/formats/interrupted-heap.md */
#ifndef PGK_HEAP_RAW_TIMES_H
#define PGK_HEAP_RAW_TIMES_H

#include "heap_raw_notes.h"
#include "mib.h"
#include "over_time.h"

/* A context over time. Sums over sheets are modulo 2^64 and 2^32, and come out right in the end. */
struct pgk_raw_context_times {
    uint64_t alive_bytes, snapshot_bytes; /* of sheets */
    uint32_t alive_objects, snapshot_objects;
    uint32_t peak_dump, exit_dump; /* finished dumps that these are of; 0: none */
    uint64_t peak_bytes, peak_objects, exit_bytes, exit_objects;
    uint64_t temporary;
    struct pgk_raw_touched use;
    struct pgk_raw_unreachable lost; /* in the dump that exit_* are of */
};

/* A stack id's share of a point of the curve. */
struct pgk_raw_id_share {
    size_t point;
    uint64_t id, bytes;
};

struct pgk_raw_times_sum {
    struct pgk_over_time curve;           /* without shares until pgk_raw_times_give_shares */
    PGK_VEC(struct pgk_raw_id_share) shares;
    bool any, missing;   /* dumps with contexts that have it, that do not */
    bool not_touched;    /* some dump with contexts lacks what was touched */
    bool sheets;         /* some of the dumps are sheets */
    uint64_t epoch;      /* of the sheets */
    uint32_t peak_dump;  /* the finished dump with the highest peak; 0: the sheets have it */
    uint32_t last_dump;  /* the last finished one that has it */
    bool looked;         /* it says what no pointer led to */
    PGK_VEC(struct pgk_raw_context_times) contexts; /* of the reader's entries; may be shorter */
};

void pgk_raw_times_free(struct pgk_raw_times_sum *sum);

/* Adds the times of dump number `dump` for the whole process, which has these notes. */
PGK_MUST_USE int pgk_raw_times_add(struct pgk_raw_times_sum *sum, struct pgk_cursor *c,
                                   uint32_t dump, const struct pgk_raw_notes *notes,
                                   struct pgk_err *err);
/* Reserves space for the times of so many entries at once; false when out of memory. */
PGK_MUST_USE bool pgk_raw_times_reserve(struct pgk_raw_times_sum *sum, size_t entries);
/* Adds the reader's entry in a sheet, or in finished dump number `dump`; false when out of
 * memory. */
PGK_MUST_USE bool pgk_raw_times_add_allocated(struct pgk_raw_times_sum *sum, size_t entry,
                                              const struct pgk_raw_allocated *allocated);
PGK_MUST_USE bool pgk_raw_times_add_life(struct pgk_raw_times_sum *sum, size_t entry, uint32_t dump,
                                         const struct pgk_raw_life *life);

/* Once all dumps are read: gives an entry's block its fields over time. Does nothing unless all
 * dumps have them. */
void pgk_raw_times_give(const struct pgk_raw_times_sum *sum, size_t entry, struct pgk_mib *m);
/* Gives the curve its shares; `stack_of` returns the model's stack of an id, 0 for one that has no
 * context there. False when out of memory. */
PGK_MUST_USE bool pgk_raw_times_give_shares(struct pgk_raw_times_sum *sum,
                                            uint32_t (*stack_of)(const void *arg, uint64_t id),
                                            const void *arg);

#endif
