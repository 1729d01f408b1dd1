/* The notes of a dump or sheet, and the texts in them. docs/formats/interrupted-heap.md */
#ifndef PGRT_NOTES_H
#define PGRT_NOTES_H

#include "guest_process.h"
#include "runtime_raw.h"

#pragma GCC visibility push(hidden)

enum {
    PGRT_PROCESS_BYTES = PGG_PROCESS_BYTES,
    PGRT_PATHS_BYTES = PGK_NOTES_TEXT_BYTES - PGRT_PROCESS_BYTES, /* in all dumps of a file */
};

/* Notes whose MIBs are at mib_off: without records, but for the facts. The process started so many
 * ms after 1970. */
void pgrt_notes_begin(struct pgrt_notes *notes, u64 flags, u64 start_time, u64 mib_off);

/* The texts that a file has. */
struct pgrt_texts {
    bool process;
    u32 modules; /* whose paths are there */
    u64 bytes;   /* that these take */
};
/* Adds paths to `used` bytes of a part that begins with that of module `first`: from module *next
 * on, of those below `end`. Returns the bytes then, at most `space`; *next is the first module that
 * is not there. */
u64 pgrt_notes_add_paths(char *to, u64 used, u64 space, u32 first, u32 *next, u32 end);

#pragma GCC visibility pop
#endif
