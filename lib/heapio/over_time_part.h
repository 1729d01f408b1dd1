/* How the heap was over time, as pgokit's own forms hold it. docs/formats/partial-heap.md */
#ifndef PGK_OVER_TIME_PART_H
#define PGK_OVER_TIME_PART_H

#include "cursor.h"
#include "over_time.h"
#include "sink.h"

/* `t` knows of a process at least. */
void pgk_over_time_write(const struct pgk_over_time *t, struct pgk_sink *out);
/* Reads into an empty one. `record` and `hint` are for messages. */
PGK_MUST_USE int pgk_over_time_read(struct pgk_cursor *c, const char *record, const char *hint,
                                    struct pgk_over_time *t, struct pgk_err *err);

#endif
