/* Reading what `perf script` and `perf report -D` print. docs/formats/perf-text.md */
#ifndef PGK_PERF_TEXT_H
#define PGK_PERF_TEXT_H

#include "cursor.h"
#include "filemap.h"
#include "perf_event.h"

/* Whether bytes look like such a text: a mapping event, a dumped sample, or a line of addresses
 * within the first part of it. */
bool pgk_perf_text_sniff(const uint8_t *bytes, size_t size);

/* Passes to `handler` the mappings and samples of a text in their order; `time` is the number of
 * the line. Lines that look like nothing known are counted in `info`, which is filled and whose
 * texts are constants. The parts of a mapped file that were read do not stay in memory. */
int pgk_perf_text_read(struct pgk_filemap *map, const struct pgk_source *src,
                       const struct pgk_perf_handler *handler, struct pgk_perf_info *info,
                       struct pgk_err *err);

#endif
