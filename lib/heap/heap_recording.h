/* What a heap profile says of the process that was recorded: program, command line, host, time. */
#ifndef PGK_HEAP_RECORDING_H
#define PGK_HEAP_RECORDING_H

#include "intern.h"

/* String ids, 0: not known. */
struct pgk_recorded {
    uint32_t program, host, command_line;
    uint64_t start_time; /* in ms since 1970; 0: not known */
};

bool pgk_recorded_is_known(const struct pgk_recorded *r);
/* Of several processes the one that started first is kept, in whatever order they come; what
 * starts at one time is ordered by the texts. False when out of memory. */
PGK_MUST_USE bool pgk_recorded_merge(struct pgk_recorded *into, struct pgk_intern *strings,
                                     const struct pgk_recorded *from,
                                     const struct pgk_intern *from_strings);

#endif
