/* The formats that pgokit knows, and reading files of any of them. */
#ifndef PGOKIT_FORMAT_H
#define PGOKIT_FORMAT_H

#include "pgokit/err.h"
#include "pgokit/gcov.h"
#include "pgokit/heap.h"
#include "pgokit/instr.h"
#include "pgokit/sample.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What a file is about. BINARY: a program or library, shown for the probes in it. */
enum pgk_kind {
    PGK_KIND_HEAP, /* a heap profile */
    PGK_KIND_SAMPLE, /* a sample profile */
    PGK_KIND_INSTR, /* an instrumentation profile */
    PGK_KIND_GCOV, /* counters of gcc */
    PGK_KIND_BINARY, /* a program or library */
    PGK_KINDS, /* number of them */
};
const char *pgk_kind_name(enum pgk_kind kind); /* "heap", "sample", "instr", "gcov", "binary" */
/* The kind in a sentence: "heap profiles", ..., "binaries". */
const char *pgk_kind_plural(enum pgk_kind kind);

/* One row of the table of formats. */
struct pgk_format {
    const char *name; /* "raw heap profile" */
    enum pgk_kind kind; /* what its files are about */
    const char *reads, *writes; /* versions, for people; "" none */
    const char *made_by;        /* programs that write such files */
    const char *page;           /* its specification under docs/formats */
};
/* i = 0 .. until NULL. */
const struct pgk_format *pgk_format_at(size_t i);

/* Finds the format of a file ("-": standard input, which is then read) by its first bytes.
 * PGK_E_FORMAT if it is none of the table, PGK_E_TRUNCATED for an empty file. */
int pgk_format_detect(const char *path, const struct pgk_format **format, struct pgk_err *err);

/* What a file turned out to be. */
struct pgk_file_info {
    const struct pgk_format *format; /* its row */
    uint32_t version;         /* of the format */
    bool has_heap;            /* indexed: there is heap data */
    uint32_t memprof_version; /* indexed: of the heap data */
    uint32_t schema_tag_max;  /* indexed: highest number of a stored MIB field */
    uint32_t dumps;           /* raw: dumps in the file */
    uint32_t images;          /* raw counters: images in the file */
    bool has_counters;        /* indexed: there are functions with counters */
    bool has_data_access;     /* indexed: a data access profile */
    bool full_schema;         /* indexed: all MIB fields, not only the compiler's */
    bool has_positions;       /* frames are source positions, with names of functions */
    bool is_printed;          /* the text of a runtime */
    bool interrupted;         /* raw: the process was killed before its last dump */
    uint64_t alive;           /* raw: objects alive then, whose accesses are not known */
    uint64_t recording_ns;    /* raw: CPU time that recording took, estimated; 0: not known */
    uint64_t recording_bytes; /* raw: and memory */
    bool library_accesses;    /* raw: program without instrumentation */
    bool partial;             /* of pgokit merge --partial */
    bool has_vtables;         /* sample: there are types of objects */
    bool compressed;          /* sample, extensible binary: sections are */
    bool guid_names;          /* sample, extensible binary: names are GUIDs */
    bool split_layout;        /* sample, extensible binary */
    bool has_summary;         /* sample: `summary` is stored in the file; of one function that
                                 was read: it is known, stored or not */
    struct pgk_sample_summary summary; /* if has_summary */
    uint64_t size_bytes; /* of the file */
};

/* "version 12, MemProf V3, 4 fields" in `buf`. */
const char *pgk_file_info_text(const struct pgk_file_info *info, char *buf, size_t size);
/* Which releases of LLVM read such a file: "LLVM 19, 22". */
const char *pgk_file_info_readers(const struct pgk_file_info *info);

/* Reads a heap profile of any format ("-": standard input) and adds it to `heap`.
 * `info` may be NULL. On failure `heap` may hold a part of the file and is only good for
 * closing. One thread per heap. */
int pgk_heap_read(struct pgk_heap *heap, const char *path, struct pgk_file_info *info,
                  struct pgk_err *err);

/* Reads an instrumentation profile of any format and adds it, each count times `weight` (1 or
 * more), to `instr`; otherwise as pgk_heap_read. PGK_E_MISMATCH if the file's counters mean
 * something else than those read before. Heap data of an indexed profile is passed over;
 * pgk_heap_read reads it. */
int pgk_instr_read(struct pgk_instr *instr, const char *path, uint64_t weight,
                   struct pgk_file_info *info, struct pgk_err *err);

/* A profile to add, and how often it counts (at least 1). */
struct pgk_input {
    const char *path; /* "-": standard input */
    uint64_t weight; /* 1 or more */
};
/* Reads any number of heap profiles into a new one, on up to `threads` threads (0: one per
 * processor): each file is opened, added and closed before the next one of its thread. The
 * result holds the same for any number of threads, and files written of it are the same bytes;
 * with several the order of its contexts is any. infos[i], if not NULL, is of inputs[i]. Shows
 * its progress. */
int pgk_heap_read_all(struct pgk_heap **heap, const struct pgk_input *inputs, size_t count,
                      unsigned threads, struct pgk_file_info *infos, struct pgk_err *err);
/* Reads any number of instrumentation profiles into a new one, on up to `threads` threads (0: one
 * per processor); the result is the same for any number. infos[i], if not NULL, is of
 * inputs[i]. Otherwise as pgk_instr_read. */
int pgk_instr_read_files(struct pgk_instr **profile, const struct pgk_input *inputs, size_t n,
                         unsigned threads, struct pgk_file_info *infos, struct pgk_err *err);
/* Reads what can be read of a damaged raw or indexed file, record by record, and adds it to `heap`;
 * calls `fn` for everything that is lost. Returns how many such things there are, or a negative
 * status if nothing can be read, or the format has no records to save (PGK_E_ARG). `info` may be
 * NULL. One thread per heap. */
int pgk_heap_salvage(struct pgk_heap *heap, const char *path, struct pgk_file_info *info,
                     pgk_heap_loss_fn *fn, void *ctx, struct pgk_err *err);

/* The same for a sample profile; each count is multiplied by `weight`, which is at least 1. */
int pgk_sample_read(struct pgk_sample *profile, const char *path, uint64_t weight,
                    struct pgk_file_info *info, struct pgk_err *err);
/* Reads only what an extensible binary has of one function, in any context, without looking
 * at the rest; other formats are read as a whole. A context in brackets, as the text format has
 * it, is that context alone. `info` has the summary of all functions. PGK_E_EMPTY if the
 * function is not there. */
int pgk_sample_read_function(struct pgk_sample *profile, const char *path, const char *function,
                             struct pgk_file_info *info, struct pgk_err *err);

/* The same, but a name that no function has is taken for a POSIX extended regular expression,
 * found anywhere in the names of functions or contexts, of which those that match are read. What
 * was read replaces the profile, which is as it was on failure. */
int pgk_sample_read_matching(struct pgk_sample **profile, const char *path, const char *pattern,
                             struct pgk_file_info *info, struct pgk_err *err);

/* Reads and adds up files on up to `threads` threads (0: one per processor); each file is
 * closed before the next is opened. The result is the same for any number of threads and any
 * order of files. */
int pgk_sample_read_files(struct pgk_sample *profile, const struct pgk_input *inputs,
                          size_t n, unsigned threads, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
