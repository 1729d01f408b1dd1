/* What a heap profile tells of its processes: in pgokit's own forms, and to whoever asks for the
 * facts of a file. docs/formats/partial-heap.md */
#ifndef PGK_HEAP_ORIGIN_PART_H
#define PGK_HEAP_ORIGIN_PART_H

#include "cursor.h"
#include "file_info.h"
#include "heap_origin.h"
#include "sink.h"

/* Facts that a reader found out about a file. */
struct pgk_heap_read_info {
    uint32_t version; /* raw profiles: of the last dump */
    struct pgk_heap_origin origin;
};

/* Is there anything to write? */
bool pgk_heap_origin_is_known(const struct pgk_heap_origin *o);
void pgk_heap_origin_write(const struct pgk_heap_origin *o, struct pgk_sink *out);
/* `record` and `hint` are for messages. */
PGK_MUST_USE int pgk_heap_origin_read(struct pgk_cursor *c, const char *record, const char *hint,
                                      struct pgk_heap_origin *o, struct pgk_err *err);

/* The same of how processes were sampled. */
void pgk_heap_origin_write_sampled(const struct pgk_heap_origin *o, struct pgk_sink *out);
PGK_MUST_USE int pgk_heap_origin_read_sampled(struct pgk_cursor *c, const char *record,
                                              const char *hint, struct pgk_heap_origin *o,
                                              struct pgk_err *err);

/* Fills in the version, and the facts that say the same. */
void pgk_heap_origin_note(const struct pgk_heap_read_info *read, struct pgk_file_info *info);
/* Adds ", of 3 processes and 1 other profile, 2 interrupted with 5 objects alive". */
void pgk_heap_origin_describe(const struct pgk_file_info *info, struct pgk_info_text *text);

#endif
