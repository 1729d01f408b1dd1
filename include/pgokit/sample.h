/* Sample profiles: what a sampling profiler saw, by function and line.
 *
 * A profile is a set of functions, or of calling contexts if it is context-sensitive. Each
 * has a total and a count of samples at its head, samples by line (offset from the function's
 * first line, and discriminator; or a probe id), call targets, types of objects (vtables), and
 * the same for the functions that were inlined into it.
 *
 * Counts are numbers of samples; sums stop at 2^64 - 1. A profile may be read by any number of
 * threads once it is finished, and changed by one. */
#ifndef PGOKIT_SAMPLE_H
#define PGOKIT_SAMPLE_H

#include "pgokit/binaries.h"
#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_sample;

/* An empty profile, owned by the caller. */
int pgk_sample_new(struct pgk_sample **profile, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_sample_close(struct pgk_sample **profile);

/* Bits of a function's attributes. */
enum pgk_sample_attribute {
    PGK_SAMPLE_WAS_INLINED = 1,     /* in the build that was profiled */
    PGK_SAMPLE_SHOULD_INLINE = 2,   /* decided by the profile generator */
    PGK_SAMPLE_IN_BASE = 4,         /* its samples are also in its function's own profile */
};

/* What a profile is and how much it holds. */
struct pgk_sample_info {
    size_t struct_size;      /* sizeof(struct pgk_sample_info), set by the caller */
    bool contexts;           /* context-sensitive */
    bool probes;             /* places are probe ids, functions have checksums */
    bool preinlined;         /* some function has PGK_SAMPLE_SHOULD_INLINE */
    bool flow_discriminators;
    bool partial;            /* of code that several programs share */
    bool vtables;            /* there are types of objects */
    bool names_missing;      /* some names are known by their GUID alone */
    bool symbols;            /* there is a list of the program's symbols */
    size_t functions;        /* functions or contexts with a profile of their own */
    size_t n_symbols;
    size_t conflicts;        /* profiles left out as their checksum lost against another */
    uint64_t conflict_samples; /* samples in them */
    size_t attributed;       /* functions, contexts and inlinees with attributes */
};

/* Ends building: chooses between checksums, puts all into order. To be called after the last
 * change and before anything that reads; calling it again does nothing. */
int pgk_sample_finish(struct pgk_sample *profile, struct pgk_err *err);
/* Of a finished profile. */
void pgk_sample_info(const struct pgk_sample *profile, struct pgk_sample_info *info);

/* Numbers of records. Takes a walk over all of them. */
struct pgk_sample_sizes {
    size_t inlinees, lines, targets, vtables;
};
void pgk_sample_sizes(const struct pgk_sample *profile, struct pgk_sample_sizes *sizes);

/* Adds `from`, which need not be finished, `weight` times to `into`. The order of merging
 * never matters. PGK_E_MISMATCH if only one has contexts or probes. */
int pgk_sample_merge(struct pgk_sample *into, const struct pgk_sample *from, uint64_t weight,
                     struct pgk_err *err);

/* ---- summary ---- */

enum { PGK_SAMPLE_CUTOFFS = 16 };
/* The lines with the most samples that make up `ppm` millionths of all samples. */
struct pgk_sample_cutoff {
    uint64_t ppm;
    uint64_t min_count;  /* samples of the coldest of them */
    uint64_t num_counts; /* how many they are */
};
/* As compilers take it from a profile: lines of functions and inlinees, each once. */
struct pgk_sample_summary {
    uint64_t total_count;        /* sum of samples, modulo 2^64 as LLVM has it */
    uint64_t max_count;          /* of a line */
    uint64_t max_function_count; /* head samples of a function */
    uint64_t num_counts;         /* lines */
    uint64_t num_functions;
    size_t n_cutoffs;
    struct pgk_sample_cutoff cutoffs[PGK_SAMPLE_CUTOFFS];
};
/* Of a finished profile, whatever its file said. */
int pgk_sample_summarise(const struct pgk_sample *profile, struct pgk_sample_summary *summary,
                         struct pgk_err *err);
/* Counts from which LLVM takes a line for hot, or up to which for cold. */
uint64_t pgk_sample_hot_count(const struct pgk_sample_summary *summary);
uint64_t pgk_sample_cold_count(const struct pgk_sample_summary *summary);

/* ---- comparing ---- */

/* How much two profiles have in common. Shares are 0 to 1; a line, function or block is of one
 * side if the other has it not, or not hot. */
struct pgk_sample_overlap {
    double similarity;      /* of where the samples are, by share; 1: the same everywhere */
    double sample_overlap;  /* samples that both have, of those that either has */
    double base_unique, test_unique; /* samples in places that the other side has not */
    uint64_t base_samples, test_samples;
    uint64_t functions_both, functions_base, functions_test;
    uint64_t hot_functions_both, hot_functions_base, hot_functions_test;
    uint64_t hot_lines_both, hot_lines_base, hot_lines_test;
};
/* A function or context on one side or both. */
struct pgk_sample_change {
    const char *function;           /* as the text format has it; of the diff */
    uint64_t base_samples, test_samples;
    double base_share, test_share;  /* of all samples */
    double similarity, overlap;     /* 0 to 1; 0 if one side does not have it */
};
struct pgk_sample_diff;
/* Compares two finished profiles, which must outlive the result. Functions are the same if their
 * names are, so see pgk_sample_exchange_names. PGK_E_EMPTY if one has no samples. */
int pgk_sample_compare(struct pgk_sample_diff **diff, const struct pgk_sample *base,
                       const struct pgk_sample *test, struct pgk_err *err);
const struct pgk_sample_overlap *pgk_sample_diff_overlap(const struct pgk_sample_diff *diff);
/* All functions, the one first whose share of all samples moved most. */
const struct pgk_sample_change *pgk_sample_diff_changes(const struct pgk_sample_diff *diff,
                                                        size_t *n);
void pgk_sample_diff_close(struct pgk_sample_diff **diff);

/* ---- changing ----
 *
 * Each of these may be called before or after pgk_sample_finish. Those that take the address
 * of a profile replace it by a new one, which is not finished; on failure it is as it was. */

/* Leaves only functions or contexts, as the text format has them, that match `keep` and do not
 * match `drop`, which are POSIX extended regular expressions or NULL. A pattern that is the
 * name of a function known by its GUID matches, too. */
int pgk_sample_filter(struct pgk_sample *profile, const char *keep, const char *drop,
                      struct pgk_err *err);

/* Leaves only that function, in all contexts; PGK_E_EMPTY, which names `file` if that is not NULL,
 * if there is none. */
int pgk_sample_keep_function(struct pgk_sample *profile, const char *function, const char *file,
                             struct pgk_err *err);

enum pgk_sample_layout {
    PGK_SAMPLE_FLAT,   /* functions: samples of inlinees go to the function inlined */
    PGK_SAMPLE_NESTED, /* contexts become inlinees of their callers */
};
int pgk_sample_relayout(struct pgk_sample **profile, enum pgk_sample_layout layout,
                        struct pgk_err *err);

struct pgk_sample_trim_opts {
    size_t struct_size;   /* sizeof(struct pgk_sample_trim_opts) */
    bool merge, trim;     /* add cold contexts to shorter ones; leave cold ones out */
    unsigned depth;       /* frames that a merged context keeps; 0: 1 */
    uint64_t cold_below;  /* samples; 0: the summary's count of the coldest lines */
    bool functions_only;  /* of trim without merge: contexts stay */
};
/* Of a context-sensitive profile; any other is left as it is. */
int pgk_sample_trim(struct pgk_sample **profile, const struct pgk_sample_trim_opts *opts,
                    struct pgk_err *err);

enum pgk_sample_suffixes {
    PGK_SAMPLE_SUFFIXES_SELECTED, /* .llvm.N and .part.N, as compilers drop them */
    PGK_SAMPLE_SUFFIXES_ALL,      /* from the first dot on */
};
/* Names without what compilers append; functions that get one name are added up. */
int pgk_sample_canonicalise(struct pgk_sample **profile, enum pgk_sample_suffixes suffixes,
                            struct pgk_err *err);
/* Renames by a file of lines "OLD NEW", everywhere: functions, contexts, call targets,
 * inlinees, vtables, symbols. What gets one name is added up. */
int pgk_sample_remap(struct pgk_sample **profile, const char *path, struct pgk_err *err);

/* Says that the discriminators are flow-sensitive, which text and raw binary cannot say. */
void pgk_sample_mark_flow(struct pgk_sample *profile);
/* Flow-sensitive discriminators as an early pass of the compiler sees them: their 8, 14, 20 or 26
 * low bits. Places that become equal are added up. PGK_E_ARG if the profile has none. */
enum pgk_sample_flow_pass {
    PGK_SAMPLE_FLOW_BASE,
    PGK_SAMPLE_FLOW_PASS1,
    PGK_SAMPLE_FLOW_PASS2,
    PGK_SAMPLE_FLOW_PASS3,
};
int pgk_sample_reduce_flow(struct pgk_sample **profile, enum pgk_sample_flow_pass pass,
                           struct pgk_err *err);

/* Adds the symbols of a file, one per line, to the symbol list. */
int pgk_sample_add_symbols(struct pgk_sample *profile, const char *path, struct pgk_err *err);
/* Spells names that are known by GUID alone, if the file has them, one per line. */
int pgk_sample_name_from_file(struct pgk_sample *profile, const char *path, struct pgk_err *err);
/* The same from the symbols of the binaries. */
int pgk_sample_name_from_binaries(struct pgk_sample *profile, struct pgk_binaries *binaries,
                                  struct pgk_err *err);
/* Spells names that one profile knows by GUID alone as the other has them. */
int pgk_sample_exchange_names(struct pgk_sample *a, struct pgk_sample *b, struct pgk_err *err);

/* ---- writing ---- */

enum pgk_sample_encoding {
    PGK_SAMPLE_EXT_BINARY, /* LLVM's extensible binary */
    PGK_SAMPLE_TEXT,
    PGK_SAMPLE_BINARY,     /* LLVM's raw binary */
    PGK_SAMPLE_GCC,        /* for gcc -fauto-profile */
    PGK_SAMPLE_ENCODINGS
};
const char *pgk_sample_encoding_name(enum pgk_sample_encoding encoding); /* "extbinary" */

struct pgk_sample_write_opts {
    size_t struct_size;  /* sizeof(struct pgk_sample_write_opts) */
    enum pgk_sample_encoding encoding;
    /* Of extensible binary: */
    bool md5;            /* names as GUIDs; always so where a spelling is missing */
    bool compress;       /* all sections with zlib */
    bool vtables;        /* write types of objects, which only LLVM 22 reads; text, too */
    bool split_layout;   /* functions without inlinees in a section of their own; in text, a
                            mark on them, which only LLVM 22 reads */
    bool partial;        /* mark as the profile of shared code */
    bool drop_symbols;   /* leave the symbol list out */
    uint64_t size_limit; /* bytes; leave the coldest functions out to fit; 0: no limit */
};
/* What a writer had to leave out. */
struct pgk_sample_written {
    size_t functions_dropped;   /* by size_limit */
    size_t vtables_dropped;     /* records of types */
    bool symbols_dropped;
    bool checksums_dropped, attributes_dropped;
    bool flow_dropped;          /* the mark of flow-sensitive discriminators */
    bool partial_dropped;       /* the mark of shared code */
    bool md5;                   /* names are GUIDs although they were not asked for; in text
                                   those that are known by their GUIDs alone */
    size_t discriminators_cut;  /* lines and inlinees whose discriminator has more bits than the
                                   format: readers add up what differs in those bits alone */
};
/* Writes a finished profile; "-" is standard output. `written` may be NULL. */
int pgk_sample_write(const struct pgk_sample *profile, const char *path,
                     const struct pgk_sample_write_opts *opts, struct pgk_sample_written *written,
                     struct pgk_err *err);

/* Writes all there is in a profile that is not finished yet, for merging in shards: what is made
 * of several partial profiles is what would be made of all their inputs at once, also where
 * functions differ in checksum. Only pgokit reads it, as any sample profile. The profile is then
 * only good for closing. */
int pgk_sample_write_partial(struct pgk_sample *profile, const char *path, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
