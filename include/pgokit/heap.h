/* Heap profiles: allocation contexts and what is known of each.
 *
 * A heap profile is a set of contexts. A context is a call stack and a memory info
 * block (MIB) that sums up all objects allocated there. A stack is a list of frames,
 * leaf first. A frame is either an address in a module (raw profiles before
 * symbolisation) or a place in a function.
 *
 * Ids are positions 0 .. count-1, valid until the profile is changed. Strings belong
 * to the profile. A profile may be read by any number of threads while none changes
 * it. */
#ifndef PGOKIT_HEAP_H
#define PGOKIT_HEAP_H

#include "pgokit/binaries.h"
#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Fields of a MIB, named as in LLVM's files; their units are in pgk_mib_info. */
enum pgk_mib_id {
    PGK_MIB_AllocCount, PGK_MIB_TotalAccessCount, PGK_MIB_MinAccessCount,
    PGK_MIB_MaxAccessCount, PGK_MIB_TotalSize, PGK_MIB_MinSize, PGK_MIB_MaxSize,
    PGK_MIB_AllocTimestamp, PGK_MIB_DeallocTimestamp, PGK_MIB_TotalLifetime,
    PGK_MIB_MinLifetime, PGK_MIB_MaxLifetime, PGK_MIB_AllocCpuId, PGK_MIB_DeallocCpuId,
    PGK_MIB_NumMigratedCpu, PGK_MIB_NumLifetimeOverlaps, PGK_MIB_NumSameAllocCpu,
    PGK_MIB_NumSameDeallocCpu, PGK_MIB_DataTypeId, PGK_MIB_TotalAccessDensity,
    PGK_MIB_MinAccessDensity, PGK_MIB_MaxAccessDensity, PGK_MIB_TotalLifetimeAccessDensity,
    PGK_MIB_MinLifetimeAccessDensity, PGK_MIB_MaxLifetimeAccessDensity,
    PGK_MIB_AccessHistogramSize, PGK_MIB_AccessHistogram,
    PGK_MIB_FIELDS
};

struct pgk_mib {
    uint32_t known;       /* bit per pgk_mib_id: the profile tells this field */
    uint32_t hist_count;  /* elements of `hist` */
    const uint64_t *hist; /* accesses to each 8 bytes of the objects; NULL if none */
    uint64_t v[PGK_MIB_FIELDS];
};

/* Name, unit ("B", "ms", "accesses", ...) and one-line meaning of a field. */
const char *pgk_mib_info(enum pgk_mib_id id, const char **unit, const char **meaning);

/* What a context is, by the first rule that holds (pgk_mib_label_rule words it):
 * COLD and HOT are the compiler's rules for -fmemory-profile-use. */
enum pgk_mib_label {
    PGK_LABEL_COLD, PGK_LABEL_HOT, PGK_LABEL_UNUSED, PGK_LABEL_SHORT_LIVED, PGK_LABEL_NONE,
    PGK_LABELS
};
enum pgk_mib_label pgk_mib_label(const struct pgk_mib *m);
const char *pgk_mib_label_name(enum pgk_mib_label label); /* "cold", ...; "" for NONE */
const char *pgk_mib_label_rule(enum pgk_mib_label label);

struct pgk_heap;

int pgk_heap_new(struct pgk_heap **heap, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_heap_close(struct pgk_heap **heap);

/* Contexts, in the order in which they were first met. */
size_t pgk_heap_contexts(const struct pgk_heap *heap);
const struct pgk_mib *pgk_heap_mib(const struct pgk_heap *heap, size_t context);

struct pgk_heap_frame {
    bool is_address;
    bool inlined;         /* into the next frame */
    /* a place in a function */
    uint64_t guid;        /* LLVM's 64-bit function id */
    const char *function; /* linkage name; "" unknown */
    const char *file;     /* of the function's declaration; "" unknown */
    uint32_t decl_line;   /* of the function; 0 unknown */
    uint32_t line_offset; /* line - decl_line modulo 2^32 */
    uint32_t column;      /* 0 unknown */
    /* an address in a module */
    uint64_t address;         /* link-time address; load address without module */
    const uint8_t *build_id;  /* of the module */
    size_t build_id_size;     /* 0: no id, or no module */
};

/* Frames of the stack of a context, leaf first: fills at most `max`, returns the
 * number there are. */
size_t pgk_heap_stack(const struct pgk_heap *heap, size_t context,
                      struct pgk_heap_frame *frames, size_t max);

/* Function records, sorted by GUID: what an indexed profile stores. `alloc_sites` are
 * context ids; a call site is an inline chain (leaf first) with the GUIDs of
 * the functions called through it (0 of them if not recorded). */
struct pgk_heap_call_site {
    const struct pgk_heap_frame *frames;
    size_t n_frames;
    const uint64_t *callees;
    size_t n_callees;
};
struct pgk_heap_record {
    uint64_t guid;
    const char *function;
    const size_t *alloc_sites;
    size_t n_alloc_sites;
    const struct pgk_heap_call_site *call_sites;
    size_t n_call_sites;
};
/* Calls `fn` for each record; what it is given lives during the call only. `fn`
 * returns 0 to go on, else its result is returned. */
typedef int pgk_heap_record_fn(void *ctx, const struct pgk_heap_record *record);
int pgk_heap_records(const struct pgk_heap *heap, pgk_heap_record_fn *fn, void *ctx);

/* Callees of all call sites: what only MemProf V4 and YAML can hold. */
size_t pgk_heap_callees(const struct pgk_heap *heap);

/* What happened in pgk_heap_symbolise. */
struct pgk_heap_symbolised {
    size_t addresses, addresses_resolved; /* distinct ones; in the given binaries */
    size_t contexts_dropped;              /* had no frame left */
    uint64_t bytes_dropped;               /* TotalSize of those */
};

/* A new profile in which address frames are replaced by the source frames of the
 * binaries' debug information, and contexts with equal stacks are added up. Frames
 * of the profiling runtime and addresses without debug information are dropped, as
 * LLVM does (docs/formats/raw-heap.md section 9). `from` is not changed. PGK_E_MISMATCH if the
 * profile has addresses but none lies in a given binary; PGK_E_NODEBUG; PGK_E_EMPTY if
 * no context is left. `done` may be NULL. */
int pgk_heap_symbolise(struct pgk_heap **into, const struct pgk_heap *from,
                       struct pgk_binaries *binaries, struct pgk_heap_symbolised *done,
                       struct pgk_err *err);

/* Adds all of `from` to `into`; stacks that are equal become one context. */
int pgk_heap_merge(struct pgk_heap *into, const struct pgk_heap *from, struct pgk_err *err);

/* Fills in function names, files and lines, which indexed profiles lack, for the GUIDs
 * that the binaries' debug information knows. */
int pgk_heap_name_functions(struct pgk_heap *heap, struct pgk_binaries *binaries,
                            struct pgk_err *err);

/* True if a stack has address frames, so that binaries are needed to go on. */
bool pgk_heap_needs_binaries(const struct pgk_heap *heap);

/* What an indexed profile is written for. */
struct pgk_indexed_target {
    const char *name;           /* "any", "llvm14" (counters only), "llvm16", "llvm19",
                                   "llvm22" */
    const char *readers;        /* who accepts it, for people */
    uint32_t index_version;     /* 8 to 13 */
    uint32_t memprof_version;   /* 0 to 4 */
    uint32_t frame_ids;         /* generation: 1 up to LLVM 19, 2 LLVM 22 */
};
/* The rows by name; NULL if unknown. i = 0 .. until NULL walks them. */
const struct pgk_indexed_target *pgk_indexed_target(const char *name);
const struct pgk_indexed_target *pgk_indexed_target_at(size_t i);

struct pgk_indexed_write_opts {
    size_t struct_size;
    struct pgk_indexed_target target;
    bool full_schema; /* all MIB fields; default only those the compiler uses */
};
/* Writes an indexed profile (.profdata) to `path` ("-": standard output), whole or not
 * at all. Deterministic: equal profiles give equal bytes. PGK_E_EMPTY without
 * contexts, PGK_E_ARG for an unsupported pair of versions or address frames left. */
int pgk_indexed_write(const struct pgk_heap *heap, const char *path,
                      const struct pgk_indexed_write_opts *opts, struct pgk_err *err);

/* Writes the profile as YAML, as llvm-profdata 22 prints it, to `path` ("-": standard
 * output), whole or not at all; for people, for tests and for llvm-profdata 22. Deterministic.
 * Errors as pgk_indexed_write. */
int pgk_heap_yaml_save(const struct pgk_heap *heap, const char *path, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
