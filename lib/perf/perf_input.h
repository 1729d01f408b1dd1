/* Reading a recording of any form. */
#ifndef PGK_PERF_INPUT_H
#define PGK_PERF_INPUT_H

#include "filemap.h"
#include "perf_event.h"

struct pgk_perf_input;

/* Opens perf.data (file or pipe), text of `perf script` or `perf report -D`, or a profile of
 * another profiler (stack_profile.h); "-" is standard input. PGK_E_FORMAT if it is none of them. */
int pgk_perf_input_open(struct pgk_perf_input **input, const char *path, struct pgk_err *err);
/* As pgk_perf_input_open, of a file that is open; `map` is taken over, also on failure, and zeroed.
 */
int pgk_perf_input_open_map(struct pgk_perf_input **input, struct pgk_filemap *map,
                            const char *path, struct pgk_err *err);
/* As pgk_perf_input_open_map, of a pipe whose rest is read from `fd` (pgk_perf_data_open_stream),
 * which is taken over; -1: there is no rest. */
int pgk_perf_input_open_stream(struct pgk_perf_input **input, struct pgk_filemap *map, int fd,
                               const char *path, struct pgk_err *err);
/* Passes its content to `handler` (see perf_event.h). May be called again. */
int pgk_perf_input_read(struct pgk_perf_input *input, const struct pgk_perf_handler *handler,
                        struct pgk_err *err);
/* Events are known from the start, counts after reading. */
const struct pgk_perf_info *pgk_perf_input_info(const struct pgk_perf_input *input);
/* Texts mostly do not say which process a sample is of. */
bool pgk_perf_input_is_text(const struct pgk_perf_input *input);
/* A profile of another profiler: stack_profile.h. */
bool pgk_perf_input_is_stacks(const struct pgk_perf_input *input);
/* Nulls the pointer; accepts NULL. */
void pgk_perf_input_close(struct pgk_perf_input **input);

/* Whether bytes are the start of a recording, for the table of formats. */
bool pgk_perf_sniff(const uint8_t *bytes, size_t size);

#endif
