/* The records of a recording, in any form: mappings, tasks, samples and trace data, passed one by
 * one to a handler.
 *
 * Readers pass all mappings and tasks of a perf.data file before its first sample, because the
 * records of a file are not in the order of time; a text is passed in its own order. `time` orders
 * the events of one input, its unit is of no matter (ns in perf.data with times, else a count of
 * records or lines). Addresses are those of the running process. */
#ifndef PGK_PERF_EVENT_H
#define PGK_PERF_EVENT_H

#include "fail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How often readers give back the memory of what they have read. */
enum { PGK_PERF_RELEASE_BYTES = 16 << 20 };

enum { PGK_PID_UNKNOWN = -1, PGK_PID_KERNEL = -2, PGK_BUILD_ID_MAX = 20 };

/* As in perf.data, so that a branch stack need not be copied. */
struct pgk_perf_branch {
    uint64_t from, to;
    uint64_t flags; /* docs/formats/perf-data.md section 4; of a text only the first */
};
enum { PGK_PERF_BRANCH_MISPREDICTED = 1 };

enum pgk_perf_mode { PGK_PERF_MODE_UNKNOWN, PGK_PERF_KERNEL, PGK_PERF_USER, PGK_PERF_HYPERVISOR,
                     PGK_PERF_GUEST_KERNEL, PGK_PERF_GUEST_USER };

enum pgk_perf_has { PGK_PERF_HAS_IP = 1, PGK_PERF_HAS_ADDR = 2, PGK_PERF_HAS_CHAIN = 4,
                    PGK_PERF_HAS_BRANCHES = 8, PGK_PERF_HAS_DATA_SRC = 16,
                    PGK_PERF_HAS_RAW = 32 };

/* A word of a text; not NUL-terminated, and empty if it was not said. */
struct pgk_perf_name {
    const char *s;
    size_t n;
};

/* What a profiler says of a sample beside its stack: the service, the host. */
struct pgk_perf_label {
    struct pgk_perf_name key, value;
};

/* Pointers live until the handler returns. */
struct pgk_perf_sample {
    uint32_t has;   /* PGK_PERF_HAS_... */
    uint32_t event; /* position in the events of the input; 0 in a text */
    struct pgk_perf_name comm, event_name; /* as a text says them; a recording has `event`, and
                                            * tasks */
    int32_t pid, tid;
    uint32_t cpu;
    enum pgk_perf_mode mode;
    uint64_t count; /* how many equal samples this one stands for */
    uint64_t time, id, ip, addr, period, weight, data_src;
    const uint64_t *chain; /* leaf first; may hold markers of context (pgk_perf_is_marker) */
    size_t n_chain;
    const struct pgk_perf_branch *branches; /* newest first */
    size_t n_branches;
    const uint8_t *raw;
    size_t raw_size;

    /* Of profiles of other profilers (stack_profile.h): */
    bool chain_in_calls; /* callers may be inside of the calls instead of after them */
    uint64_t unix_ns;    /* when it was taken, or the profile began; 0: unknown */
    const struct pgk_perf_label *labels;
    size_t n_labels;
};

/* Entries of a call chain that say where the following ones belong to. */
static inline bool pgk_perf_is_marker(uint64_t entry)
{
    return entry >= (uint64_t)-4095;
}

enum { PGK_PROT_READ = 1, PGK_PROT_WRITE = 2, PGK_PROT_EXEC = 4 };

struct pgk_perf_mapping {
    int32_t pid; /* PGK_PID_KERNEL: of the kernel */
    uint64_t time, start, size, file_offset;
    uint32_t prot; /* PGK_PROT_... */
    const char *path;
    size_t path_len;
    uint8_t build_id[PGK_BUILD_ID_MAX];
    uint32_t build_id_size; /* 0: not recorded */
    bool linked;    /* offsets in the file are addresses as its linker gave them */
    bool from_base; /* they are from where the file was loaded */
};

enum pgk_perf_task_kind { PGK_PERF_FORK, PGK_PERF_EXIT, PGK_PERF_NAME, PGK_PERF_EXEC };

struct pgk_perf_task {
    enum pgk_perf_task_kind kind;
    int32_t pid, tid;
    int32_t parent; /* of a fork */
    uint64_t time;
    const char *name; /* of NAME and EXEC */
    size_t name_len;
};

/* A piece of what a processor's tracing unit wrote. */
struct pgk_perf_trace {
    uint32_t type; /* PGK_PERF_TRACE_SPE, ... */
    uint32_t cpu, tid; /* UINT32_MAX: any */
    uint64_t file_offset; /* of `bytes` */
    const uint8_t *bytes;
    size_t size;
};
enum { PGK_PERF_TRACE_SPE = 4 };

/* A function that is NULL is not called. Each returns 0 or a PGK_E_..., which ends reading. */
struct pgk_perf_handler {
    void *ctx;
    int (*mapping)(void *ctx, const struct pgk_perf_mapping *mapping);
    int (*task)(void *ctx, const struct pgk_perf_task *task);
    int (*sample)(void *ctx, const struct pgk_perf_sample *sample);
    int (*trace)(void *ctx, const struct pgk_perf_trace *trace);
};

/* An event that was counted. */
struct pgk_perf_event {
    const char *name; /* "cycles:u"; "" unknown */
    const char *pmu;  /* "ibs_op", "arm_spe_0"; "" for the common ones */
    uint32_t type;
    uint64_t config, period, sample_type, branch_type;
    bool is_frequency; /* `period` is in samples a second */
    uint32_t precise;  /* 0 to 3: how exact the instruction is */
};

/* Lines or records that were skipped, with the first of them. */
struct pgk_perf_skipped {
    uint64_t n;
    uint64_t first; /* line number, or offset in the file */
    char example[80];
};

struct pgk_perf_info {
    const char *form; /* "perf.data", ... */
    const struct pgk_perf_event *events;
    size_t n_events;
    const char *cpu; /* as the recording machine names it; "" unknown */
    uint64_t samples, mappings, tasks, lost_samples;
    uint64_t bytes; /* of the input */
    bool interrupted; /* perf was killed: the file says nothing of its length */
    uint64_t lines; /* of a text */
    struct pgk_perf_skipped unreadable; /* of these, what looks like nothing known */
};

#endif
