/* Reading perf.data, as `perf record` writes it to a file or a pipe.
 * docs/formats/perf-data.md */
#ifndef PGK_PERF_DATA_H
#define PGK_PERF_DATA_H

#include "cursor.h"
#include "filemap.h"
#include "perf_event.h"

#define PGK_PERF_DATA_MAGIC UINT64_C(0x32454c4946524550)

struct pgk_perf_data;

/* Reads what comes before the samples: events, names, build ids. The map must outlive `file`; what
 * was read of a mapped file does not stay in memory.
 * PGK_E_VERSION for a recording of a machine of the other byte order. */
int pgk_perf_data_open(struct pgk_perf_data **file, struct pgk_filemap *map,
                       const struct pgk_source *src, struct pgk_err *err);
/* The same of a pipe of which `map` has the first bytes: the rest is read from `fd`, once, while
 * pgk_perf_data_read runs. Then mappings and tasks are passed as they come, and samples not much
 * later; no more than what perf sorts at a time is kept in memory. `fd` is taken over, also on
 * failure. Events are known when samples come. */
int pgk_perf_data_open_stream(struct pgk_perf_data **file, struct pgk_filemap *map, int fd,
                              const struct pgk_source *src, struct pgk_err *err);
enum { PGK_PERF_STREAM_HEAD = 16 };
/* Whether the first bytes are those of such a pipe. */
bool pgk_perf_is_stream(const uint8_t *bytes, size_t size);
/* Passes to `handler` all mappings and tasks of the file, in its order, then all samples and
 * traces. */
int pgk_perf_data_read(struct pgk_perf_data *file, const struct pgk_perf_handler *handler,
                       struct pgk_err *err);
/* Texts in it live as long as `file`. Counts are those of the last pgk_perf_data_read. */
const struct pgk_perf_info *pgk_perf_data_info(const struct pgk_perf_data *file);
/* Nulls the pointer; accepts NULL. */
void pgk_perf_data_close(struct pgk_perf_data **file);

#endif
