/* The formats that pgokit knows, and reading files of any of them. */
#ifndef PGOKIT_FORMAT_H
#define PGOKIT_FORMAT_H

#include "pgokit/err.h"
#include "pgokit/gcov.h"
#include "pgokit/heap.h"
#include "pgokit/instr.h"
#include "pgokit/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The newest release of LLVM whose files and tools this version of pgokit was tried with. */
#define PGK_LLVM_NEWEST 23

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

/* A range of versions; 0 to 0: the format does not number them, or there is none. */
struct pgk_versions {
    uint32_t first; /* the oldest */
    uint32_t last;  /* the newest */
};

/* A format. It lives as long as the library; members may be added at the end. */
struct pgk_format {
    const char *name; /* "raw heap profile" */
    enum pgk_kind kind; /* what its files are about */
    const char *reads, *writes; /* versions, for people; "" none */
    const char *made_by;        /* programs that write such files */
    const char *page;           /* its specification under docs/formats */
    struct pgk_versions read;    /* that can be read */
    struct pgk_versions write;   /* that can be written */
    struct pgk_versions memprof; /* indexed: of the heap data in it, read and written */
};
/* i = 0 .. until NULL. */
const struct pgk_format *pgk_format_at(size_t i);
/* By name and kind, as there are two by the name of "indexed profile"; NULL if there is none. */
const struct pgk_format *pgk_format_find(const char *name, enum pgk_kind kind);
/* The table as JSON: an array with an object per format. */
void pgk_formats_print_json(FILE *out);

/* What a file turned out to be. It belongs to the pgk_file; any thread may look at it while none
 * reads the file. */
struct pgk_file_info;
/* The format that the file has. */
const struct pgk_format *pgk_file_info_format(const struct pgk_file_info *info);
uint64_t pgk_file_info_size_bytes(const struct pgk_file_info *info); /* decompressed */
/* All below is known once the file has been read. */
uint32_t pgk_file_info_version(const struct pgk_file_info *info); /* 0: it has no number */

/* What some formats say of a file. A flag is 1 or 0; what a format does not say is 0. */
enum pgk_file_fact {
    PGK_FACT_HEAP,             /* indexed: there is heap data */
    PGK_FACT_COUNTERS,         /* indexed: there are functions with counters */
    PGK_FACT_DATA_ACCESS,      /* indexed, YAML: there is a data access profile */
    PGK_FACT_MEMPROF_VERSION,  /* indexed: of the heap data */
    PGK_FACT_SCHEMA_TAG_MAX,   /* indexed: highest number of a stored MIB field */
    PGK_FACT_FULL_SCHEMA,      /* indexed: all MIB fields, not only the compiler's */
    PGK_FACT_DUMPS,            /* heap: dumps that processes had written */
    PGK_FACT_IMAGES,           /* raw counters: images in the file */
    PGK_FACT_INTERRUPTED,      /* heap: how many of the processes were killed before their last
                                  dump, or may have gone on; what was alive was perhaps in use */
    PGK_FACT_OBJECTS_ALIVE,    /* heap: objects alive then, whose accesses are not known */
    PGK_FACT_RECORDING_NS,     /* heap: CPU time that recording took, estimated; 0 unknown */
    PGK_FACT_RECORDING_BYTES,  /* heap: memory that recording took, where it took most; 0 unknown */
    PGK_FACT_LIBRARY_ACCESSES, /* heap: of all processes, accesses are of library functions only */
    PGK_FACT_SHARD,            /* of pgokit merge --partial: a part that loses nothing */
    PGK_FACT_VTABLES,          /* sample: there are types of objects */
    PGK_FACT_COMPRESSED,       /* sample, extensible binary: sections are */
    PGK_FACT_GUID_NAMES,       /* sample: names are GUIDs */
    PGK_FACT_SPLIT_LAYOUT,     /* sample, extensible binary */
    PGK_FACT_MINOR_VERSION,    /* counters of gcc: of the release, whose version is the major */
    PGK_FACT_NO_COMPILER,      /* sample, gcc's: in a form that no compiler takes */
    PGK_FACT_ONE_THREAD,       /* heap: in all processes one thread allocated and freed */
    PGK_FACT_PROCESSES,        /* heap: processes that all this is said of; 0 unknown */
    PGK_FACT_OTHER_PROFILES,   /* heap: merged profiles that say nothing of their processes */
    PGK_FACT_SAMPLE_BYTES,     /* heap, pprof's and sampled: bytes from one sample to the next, on
                                  average; 0 or 1: everything is counted */
    PGK_FACT_RUNNING,          /* heap, raw: of the interrupted process, it is known to run on, as
                                  it had the file mapped when this was read */
    PGK_FACT_INDEXED_TABLES,   /* sample, extensible binary: a function is found by its GUID */
    PGK_FACT_SYMBOL_GUIDS,     /* sample, extensible binary: the symbol list is of GUIDs */
    PGK_FACT_SAMPLED,          /* heap: how many of the processes recorded a part of their objects,
                                  so that figures are estimates */
    PGK_FACTS /* how many there are */
};
/* The fact; 0 for what the format does not say. */
uint64_t pgk_file_info_fact(const struct pgk_file_info *info, enum pgk_file_fact fact);
/* The summary that a sample profile stores. Of one function that was read it is that of all
 * functions, stored or not. NULL if there is none. */
const struct pgk_sample_summary *pgk_file_info_summary(const struct pgk_file_info *info);
/* "indexed profile, version 12, MemProf V3 with the compiler's fields" in `buf`. */
const char *pgk_file_info_text(const struct pgk_file_info *info, char *buf, size_t size);
/* Which releases of LLVM and GCC read such a file, "LLVM 19 and 22", in `buf`. */
const char *pgk_file_info_readers(const struct pgk_file_info *info, char *buf, size_t size);

/* A file whose format has been found. Between calls nothing of it is kept in memory or open, but
 * for what cannot be opened twice (a pipe). */
struct pgk_file;
/* Opens a file ("-": standard input) and finds its format by its first bytes. PGK_E_FORMAT if it is
 * none of the table, PGK_E_TRUNCATED for an empty file. */
int pgk_file_open(struct pgk_file **file, const char *path, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_file_close(struct pgk_file **file);
/* What the file turned out to be, so far; valid until the file is closed. */
const struct pgk_file_info *pgk_file_info(const struct pgk_file *file);
/* Does the file hold profiles of that kind, by its first bytes? One with counters may hold heap
 * data, too. */
bool pgk_file_holds(const struct pgk_file *file, enum pgk_kind kind);

/* Gets a build id, of 1 or more bytes. What is not 0 ends the search, which returns it. */
typedef int pgk_build_id_fn(void *ctx, const uint8_t *id, size_t size);
/* Calls `fn` for each build id that a raw or indexed profile stores, in the file's order, and does
 * not read the rest: of a raw heap profile only the first dump has been looked at. Other formats
 * store none, or are not searched. */
int pgk_file_build_ids(struct pgk_file *file, pgk_build_id_fn *fn, void *ctx,
                       struct pgk_err *err);

/* Reading, the same for every kind of profile (heap, instr, sample, gcov):
 *
 *   pgk_KIND_read      a file by its name
 *   pgk_KIND_read_file a file that was opened before; its info is then complete
 *   pgk_KIND_read_all  any number of files into a new profile
 *
 * Any format is read. The first two add to the profile, each count times `weight` (1 or more). On
 * failure the profile may hold a part of the file and is only good for closing; PGK_E_MISMATCH if
 * the file is of another kind. One thread per profile.
 *
 * The last one reads on up to `threads` threads (0: one per processor), each file being closed
 * before its thread opens the next, and shows its progress. The result holds the same for any
 * number of threads, and files written of it are the same bytes. On failure there is no profile,
 * and the error is that of the first file that could not be read. */

/* A file to read, and how often it counts (at least 1). */
struct pgk_input {
    const char *path;      /* "-": standard input */
    uint64_t weight;       /* 1 or more */
    struct pgk_file *file; /* if it was opened before, else NULL; stays the caller's */
};

/* With several threads the order of contexts is any. pgk_heap_read_all takes accesses of which a
 * profile counts but a part for unknown, because files that are written would not say so. */
int pgk_heap_read(struct pgk_heap *profile, const char *path, uint64_t weight,
                  struct pgk_err *err);
/* As pgk_heap_read, for a file that was opened before. */
int pgk_heap_read_file(struct pgk_heap *profile, struct pgk_file *file, uint64_t weight,
                       struct pgk_err *err);
/* Adds any number of files up into a new profile, as said above. */
int pgk_heap_read_all(struct pgk_heap **profile, const struct pgk_input *inputs, size_t n,
                      unsigned threads, struct pgk_err *err);

/* Reads into a new profile what a heap profile has of some functions, by their GUIDs, as a compiler
 * needs it of those of a module: all contexts that one of them allocates; and of the contexts that
 * one of them is a caller in, at least one for each path from its call to the root. There may be
 * others. Of an indexed profile with MemProf V3 or V4 nothing else is decoded, so that this takes a
 * small part of the time of pgk_heap_read; other formats are read as a whole.
 * pgk_heap_sum() and pgk_use_classify() say what they would of the whole profile. Without
 * functions only the totals are read. */
int pgk_heap_read_functions(struct pgk_heap **profile, struct pgk_file *file,
                            const uint64_t *functions, size_t n, struct pgk_err *err);

/* PGK_E_MISMATCH if the file's counters mean something else than those read before. Heap data of an
 * indexed profile is passed over; pgk_heap_read reads it. */
int pgk_instr_read(struct pgk_instr *profile, const char *path, uint64_t weight,
                   struct pgk_err *err);
/* As pgk_instr_read, for a file that was opened before. */
int pgk_instr_read_file(struct pgk_instr *profile, struct pgk_file *file, uint64_t weight,
                        struct pgk_err *err);
/* Adds any number of files up into a new profile, as said above. */
int pgk_instr_read_all(struct pgk_instr **profile, const struct pgk_input *inputs, size_t n,
                       unsigned threads, struct pgk_err *err);

/* Adds a sample profile of any format to `profile`, as said above. */
int pgk_sample_read(struct pgk_sample *profile, const char *path, uint64_t weight,
                    struct pgk_err *err);
/* As pgk_sample_read, for a file that was opened before. */
int pgk_sample_read_file(struct pgk_sample *profile, struct pgk_file *file, uint64_t weight,
                         struct pgk_err *err);
/* Adds any number of files up into a new profile, as said above. */
int pgk_sample_read_all(struct pgk_sample **profile, const struct pgk_input *inputs, size_t n,
                        unsigned threads, struct pgk_err *err);

/* A .gcda file, or names from a .gcno file. Counts that get too large stay at the largest. The
 * result does not depend on the order of files, but that of functions is the first file's.
 * PGK_E_MISMATCH for files of different builds. */
int pgk_gcov_read(struct pgk_gcov *profile, const char *path, uint64_t weight,
                  struct pgk_err *err);
/* As pgk_gcov_read, for a file that was opened before. */
int pgk_gcov_read_file(struct pgk_gcov *profile, struct pgk_file *file, uint64_t weight,
                       struct pgk_err *err);
/* Adds any number of files up into a new profile, as said above. */
int pgk_gcov_read_all(struct pgk_gcov **profile, const struct pgk_input *inputs, size_t n,
                      unsigned threads, struct pgk_err *err);

/* Reads the functions or contexts that `pattern` names: those of that very name, or, if there are
 * none, those of which some part matches it as a POSIX extended regular expression. The file's info
 * has the summary of all functions. What was read replaces the profile, which is as it was on
 * failure. PGK_E_EMPTY if there is nothing of the kind. */
int pgk_sample_read_matching(struct pgk_sample **profile, struct pgk_file *file,
                             const char *pattern, struct pgk_err *err);

/* Reads what can be read of a damaged raw or indexed file, record by record, or of a heaptrack file
 * up to its damage, and adds it to `profile`; calls `fn` for everything that is lost. Returns how
 * many such things there are, or a negative status if nothing can be read, or the format has no
 * records to save (PGK_E_ARG). One thread per profile. */
int pgk_heap_salvage(struct pgk_heap *profile, struct pgk_file *file, pgk_heap_loss_fn *fn,
                     void *ctx, struct pgk_err *err);

/* Writes the profile to `path` ("-": standard output), whole or not at all, in the form and version
 * of the target; errors are those of the form's own function (pgk_heap_write_raw, ...). */
int pgk_heap_write(const struct pgk_heap *profile, const char *path,
                  const struct pgk_heap_target *target, struct pgk_err *err);
/* The target that is written as the file was; false if that cannot be. */
bool pgk_file_info_heap_target(const struct pgk_file_info *info, struct pgk_heap_target *target);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
