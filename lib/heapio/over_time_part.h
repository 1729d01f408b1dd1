/* How the heap was over time, as pgokit's own forms hold it. docs/formats/partial-heap.md */
#ifndef PGK_OVER_TIME_PART_H
#define PGK_OVER_TIME_PART_H

#include "cursor.h"
#include "over_time.h"
#include "sink.h"

/* `t` knows of a process at least. */
void pgk_over_time_write(const struct pgk_over_time *t, struct pgk_sink *out);
/* The shares; `nodes` has the file's number of each stack of the model. False: out of memory. */
PGK_MUST_USE bool pgk_over_time_write_shares(const struct pgk_over_time *t, const uint32_t *nodes,
                                             struct pgk_sink *out);
/* Reads shares into one whose points were read. `stack_of` returns the model's stack of a number of
 * the file, 0 for one that has no context. */
PGK_MUST_USE int pgk_over_time_read_shares(struct pgk_cursor *c, const char *record,
                                           const char *hint, struct pgk_over_time *t,
                                           uint32_t (*stack_of)(const void *arg, uint64_t node),
                                           const void *arg, struct pgk_err *err);
/* Reads into an empty one. `record` and `hint` are for messages. */
PGK_MUST_USE int pgk_over_time_read(struct pgk_cursor *c, const char *record, const char *hint,
                                    struct pgk_over_time *t, struct pgk_err *err);

#endif
