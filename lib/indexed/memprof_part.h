/* Which contexts of a MemProf section (V3, V4) concern given functions, found without decoding the
 * others. These are the contexts that one of the functions allocates, and of those that one of them
 * is a caller in, one for each path from its call to the root. */
#ifndef PGK_MEMPROF_PART_H
#define PGK_MEMPROF_PART_H

#include "cursor.h"
#include "heap_model.h"

/* The packed bytes of a frame: the function's GUID, line offset, column, inline flag. */
enum { PGK_MEMPROF_FRAME_SIZE = 17 };

/* A stack that was met, by where it begins. */
struct pgk_part_stack {
    uint32_t record; /* that named it first */
    uint32_t slot;   /* among the contexts of this record */
};
/* A context of the record that is being read; blocks of one stack are added up. */
struct pgk_part_context {
    struct pgk_mib mib;
    bool wanted;
};

struct pgk_memprof_part {
    const uint64_t *functions; /* GUIDs, rising; the caller's */
    size_t n_functions;
    struct pgk_heap_whole whole; /* of all contexts that were met */

    struct pgk_cursor stacks; /* for messages */
    const uint8_t *frames, *radix;
    uint64_t n_frames, n_radix;
    uint64_t *filter;        /* bits by a part of the GUID: functions that may be wanted */
    uint8_t *visited;        /* bits by element of the radix array */
    struct pgk_part_stack *met; /* by element at which a stack begins */
    uint32_t record;         /* number of the current one, from 1 */
    PGK_VEC(struct pgk_part_context) contexts; /* of the current record */
};

/* `stacks` is a cursor whose base is the file offset of the radix array. */
PGK_MUST_USE int pgk_part_open(struct pgk_memprof_part *part, const struct pgk_cursor *stacks,
                               const uint8_t *frames, uint64_t n_frames, const uint8_t *radix,
                               uint64_t n_radix, struct pgk_err *err);
void pgk_part_close(struct pgk_memprof_part *part);

PGK_MUST_USE int pgk_part_begin_record(struct pgk_memprof_part *part, struct pgk_err *err);
/* Counts a block of the record; is its context wanted? A context counts as the first record gives
 * it, in which equal stacks are added up. */
PGK_MUST_USE int pgk_part_count(struct pgk_memprof_part *part, uint32_t start,
                                const struct pgk_mib *mib, bool *wanted, struct pgk_err *err);
void pgk_part_end_record(struct pgk_memprof_part *part);

#endif
