/* Shared by the files of the perf.data reader. */
#ifndef PGK_PERF_DATA_PRIV_H
#define PGK_PERF_DATA_PRIV_H

#include "index.h"
#include "intern.h"
#include "perf_data.h"
#include "vec.h"

/* perf_event_attr, as far as a reader needs it */
struct perf_attr {
    uint64_t sample_type, read_format, flags, regs_user, regs_intr;
    bool has_hw_index; /* a word before the branches */
    bool has_branch_counters;
};

struct perf_build_id {
    uint32_t path;
    uint8_t size, bytes[PGK_BUILD_ID_MAX];
};

struct pgk_perf_data {
    struct pgk_filemap *map; /* of `bytes` */
    const uint8_t *bytes;
    size_t size;
    struct pgk_source src;
    bool pipe;
    int fd; /* of a pipe whose records come as they are read; else -1 */
    uint64_t data_off, data_end;

    struct pgk_perf_info info;
    PGK_VEC(struct pgk_perf_event) events;
    PGK_VEC(struct perf_attr) attrs; /* of the events */
    PGK_VEC(uint64_t) ids;
    PGK_VEC(uint32_t) id_events; /* event of each id */
    struct pgk_index by_id;
    struct pgk_intern names;
    PGK_VEC(struct perf_build_id) build_ids;
    struct pgk_index by_path;
    PGK_VEC(struct perf_pmu { uint32_t type; uint32_t name; }) pmus;
    uint32_t trace_type;
    bool has_times; /* every event records them */
    PGK_VEC(struct pgk_perf_branch) branches; /* of the sample being read, where copied */
    PGK_VEC(uint64_t) chain;
};

/* perf_event_attr.sample_type and flags */
enum { SAMPLE_TID = 1 << 1, SAMPLE_TIME = 1 << 2, SAMPLE_ID = 1 << 6, SAMPLE_CPU = 1 << 7,
       SAMPLE_STREAM_ID = 1 << 9, SAMPLE_IDENTIFIER = 1 << 16 };
#define ATTR_SAMPLE_ID_ALL (UINT64_C(1) << 18)

enum perf_record_type {
    RECORD_MMAP = 1, RECORD_LOST = 2, RECORD_COMM = 3, RECORD_EXIT = 4, RECORD_FORK = 7,
    RECORD_SAMPLE = 9, RECORD_MMAP2 = 10, RECORD_LOST_SAMPLES = 13,
    RECORD_ATTR = 64, RECORD_TRACING_DATA = 66, RECORD_BUILD_ID = 67, RECORD_FINISHED_ROUND = 68,
    RECORD_AUXTRACE_INFO = 70,
    RECORD_AUXTRACE = 71, RECORD_FEATURE = 80, RECORD_COMPRESSED = 81, RECORD_COMPRESSED2 = 83,
};

/* One record, whole; `at` is its offset in the file, or that of the compressed record which it
 * was packed into. */
struct perf_record {
    uint32_t type;
    uint16_t misc;
    const uint8_t *body; /* after the header of 8 bytes */
    size_t size;
    uint64_t at;
    uint64_t ordinal; /* from 1 */
    const uint8_t *trailing; /* of AUXTRACE: the bytes after the record */
    size_t trailing_size;
};

typedef int perf_record_fn(void *ctx, const struct perf_record *record);

/* Calls `fn` for each record of the data section, unpacking compressed ones. */
int pgk_perf_walk(const struct pgk_perf_data *file, perf_record_fn *fn, void *ctx,
                  struct pgk_err *err);

/* The same for what comes through the pipe. */
int pgk_perf_walk_stream(struct pgk_perf_data *file, perf_record_fn *fn, void *ctx,
                         struct pgk_err *err);

/* Passes all of a pipe to the handler as it comes, samples after the mappings that they need. */
int pgk_perf_stream_read(struct pgk_perf_data *file, const struct pgk_perf_handler *handler,
                         struct pgk_err *err);
/* A sample or a trace. */
int pgk_perf_pass_sample(struct pgk_perf_data *file, const struct perf_record *record,
                         const struct pgk_perf_handler *handler, struct pgk_err *err);
/* PGK_E_CORRUPT for a recording without events. */
int pgk_perf_need_events(const struct pgk_perf_data *file, struct pgk_err *err);

/* Cursor over the body of a record, with messages that name it. */
struct pgk_cursor pgk_perf_body(const struct pgk_perf_data *file, const struct perf_record *record);

/* Decodes a sample; it points into the record and into buffers of `file`. */
int pgk_perf_sample(struct pgk_perf_data *file, const struct perf_record *record,
                    struct pgk_perf_sample *sample, struct pgk_err *err);
/* Event whose id a record holds; the first event if ids are not recorded. */
uint32_t pgk_perf_event_of(const struct pgk_perf_data *file, uint64_t id);

/* Takes in a record that says something about the file: events, names, build ids. */
int pgk_perf_about(struct pgk_perf_data *file, const struct perf_record *record,
                   struct pgk_err *err);
/* Takes in one perf_event_attr of `size` bytes, and its ids. */
int pgk_perf_add_event(struct pgk_perf_data *file, struct pgk_cursor *c, size_t size,
                       struct pgk_cursor *ids, struct pgk_err *err);
/* Takes in a feature section. */
int pgk_perf_feature(struct pgk_perf_data *file, unsigned feature, struct pgk_cursor *c,
                     struct pgk_err *err);
/* Build id that the file's table gives for a path; NULL if none. */
const struct perf_build_id *pgk_perf_build_id(const struct pgk_perf_data *file, const char *path,
                                              size_t len);

/* Passes a mapping or task to the handler, if the record is one. */
int pgk_perf_sideband(struct pgk_perf_data *file, const struct perf_record *record,
                      const struct pgk_perf_handler *handler, struct pgk_err *err);

#endif
