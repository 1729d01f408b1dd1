/* Instrumentation profiles: how often each place of a program ran.
 *
 * A profile is a set of functions, each known by its name and by a hash of its structure:
 * one name has several hashes where it was compiled from different sources or by
 * different options. A function holds counters, bitmaps of conditions (MC/DC), and what
 * values were seen at its value sites.
 *
 * Positions are 0 .. count-1, sorted by nothing, valid until the profile is changed. What
 * accessors return belongs to the profile. A profile may be read by any number of threads
 * while none changes it. */
#ifndef PGOKIT_INSTR_H
#define PGOKIT_INSTR_H

#include "pgokit/err.h"
#include "pgokit/heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What the values of a site are. */
enum pgk_value_kind {
    PGK_VALUE_CALL,   /* targets of an indirect call: function ids, 0 unknown */
    PGK_VALUE_SIZE,   /* sizes of a memory operation, in bytes: 0 to 8 and powers of two up to
                         512 exactly; else 1 above the power of two below */
    PGK_VALUE_VTABLE, /* virtual tables of an object: their ids, 0 unknown */
    PGK_VALUE_KINDS, /* number of them */
};

/* A value that was seen. In an array, so it does not grow. */
struct pgk_instr_value {
    uint64_t value; /* what it is depends on the kind of its site */
    uint64_t count; /* how often it was seen */
};

/* What instrumented the program. */
enum pgk_instr_origin {
    PGK_INSTR_NONE, /* not known */
    PGK_INSTR_FRONT_END, /* clang's front end */
    PGK_INSTR_IR, /* the optimiser */
};

struct pgk_instr;

/* An empty profile, owned by the caller. */
int pgk_instr_new(struct pgk_instr **profile, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_instr_close(struct pgk_instr **profile);

/* PGK_INSTR_NONE while there is no function. */
enum pgk_instr_origin pgk_instr_origin(const struct pgk_instr *profile);
/* "IR", "IR with contexts", "front-end", ... of the profile. */
const char *pgk_instr_origin_text(const struct pgk_instr *profile);

/* A function and its counters. */
struct pgk_instr_function {
    size_t struct_size; /* sizeof(struct pgk_instr_function), set by the caller */
    const char *name; /* linkage name, with the file in front if it is local; NUL-terminated */
    size_t name_len; /* bytes of it */
    uint64_t id;      /* first 8 bytes of the MD5 of the name */
    uint64_t hash;    /* of the structure */
    bool contextual;  /* counted in its calling context, by a second round (CSIR) */
    const uint64_t *counts; /* the first one is the entry count */
    size_t n_counts; /* number of them, 1 or more */
    const uint8_t *bitmap; /* conditions that were met (MC/DC); NULL: none */
    size_t n_bitmap; /* bytes of it */
};
/* Number of functions, each hash of a name counted. */
size_t pgk_instr_functions(const struct pgk_instr *profile);
/* Fills in function 0 <= i < pgk_instr_functions(). */
void pgk_instr_function(const struct pgk_instr *profile, size_t i,
                        struct pgk_instr_function *function);
/* Number of a function's value sites of a kind. */
size_t pgk_instr_sites(const struct pgk_instr *profile, size_t i, enum pgk_value_kind kind);
/* Values of a site of a function, sorted by count, largest first. Fills at most `max`, returns
 * how many there are. */
size_t pgk_instr_site(const struct pgk_instr *profile, size_t i, enum pgk_value_kind kind,
                      size_t site, struct pgk_instr_value *values, size_t max);
/* Name of a function or virtual table by its id; NULL if the profile does not know it. */
const char *pgk_instr_name(const struct pgk_instr *profile, enum pgk_value_kind kind,
                           uint64_t id);

/* Of code for GPUs: which counters of a function are uniform, that is 0, or for nine tenths counted
 * with all lanes of the wave active. Bit i % 8 of byte i / 8 is 1 for counter i if it is; bits
 * after the last counter are 1. Fills at most `max` bytes, returns how many there are: 0 if
 * nothing is known of it. */
size_t pgk_instr_uniformity(const struct pgk_instr *profile, size_t i, uint8_t *bits, size_t max);

/* True for a function of which some input has only another hash: its source, or how it was
 * compiled, has changed between the inputs. All hashes are kept, and compilers take the one that
 * fits. */
bool pgk_instr_changed(const struct pgk_instr *profile, size_t i);
/* True for a function 0 <= i < pgk_instr_functions() that was counted in some inputs and is only
 * known to be hot or warm in others: its counts are those of the former. */
bool pgk_instr_mixed(const struct pgk_instr *profile, size_t i);

/* What else a profile holds. */
size_t pgk_instr_binary_ids(const struct pgk_instr *profile);
/* Build id 0 <= i < pgk_instr_binary_ids(), `*size` bytes. */
const uint8_t *pgk_instr_binary_id(const struct pgk_instr *profile, size_t i, size_t *size);
size_t pgk_instr_traces(const struct pgk_instr *profile); /* orders of first calls */
/* Trace 0 <= i < pgk_instr_traces(): ids of functions in the order of their first call, `*n` of
 * them, and how many runs it stands for (`weight` may be NULL). NULL after the last. */
const uint64_t *pgk_instr_trace_at(const struct pgk_instr *profile, size_t i, size_t *n,
                                   uint64_t *weight);
size_t pgk_instr_vtables(const struct pgk_instr *profile); /* names of virtual tables */
/* Name of virtual table 0 <= i < pgk_instr_vtables(); NULL after the last. */
const char *pgk_instr_vtable_at(const struct pgk_instr *profile, size_t i);

/* How a program was instrumented: bits. */
enum pgk_instr_trait {
    PGK_INSTR_IS_IR = 1,             /* by the optimiser (-fprofile-generate), else by clang's
                                          front end (-fprofile-instr-generate) */
    PGK_INSTR_IS_CONTEXTUAL = 2,     /* a second round, after inlining; with IR */
    PGK_INSTR_IS_ENTRY_FIRST = 4,    /* the function's entry is always counted */
    PGK_INSTR_IS_LOOP_ENTRIES = 8,   /* entries of loops are counted */
    PGK_INSTR_IS_BYTE_COVERAGE = 16, /* counters are one byte: 0 or 1 */
    PGK_INSTR_IS_ENTRY_COVERAGE = 32, /* only entries of functions are counted */
};
/* Bits of enum pgk_instr_trait; all that any input had. */
uint32_t pgk_instr_traits(const struct pgk_instr *profile);

/* ---- building ----
 *
 * From the caller's own counters, in any order. All that is built counts as one input; a function
 * that is added again is added up. One thread per profile. PGK_E_ARG for what files could not
 * hold, PGK_E_NOMEM; the profile can be added to after that. */

/* Says how the program was instrumented, by bits of enum pgk_instr_trait; before the first
 * function. PGK_E_MISMATCH if the counters of what was added before mean something else. */
int pgk_instr_build_kind(struct pgk_instr *profile, uint32_t traits, struct pgk_err *err);

/* The values that were seen at a site. */
struct pgk_instr_site_values {
    enum pgk_value_kind kind; /* of the values */
    const struct pgk_instr_value *values; /* in any order */
    size_t n; /* of them; 0: the site was not reached */
};
/* A function to add; what is pointed to is copied. */
struct pgk_instr_addition {
    size_t struct_size;     /* sizeof(struct pgk_instr_addition) */
    const char *name;       /* linkage name, with the file in front if it is local */
    uint64_t hash;          /* of its structure */
    const uint64_t *counts; /* at most 2^64 - 3; the first one is the entry count */
    size_t n_counts;        /* 1 or more */
    const uint8_t *bitmap;  /* conditions that were met (MC/DC); NULL: none */
    size_t n_bitmap;        /* bytes */
    const struct pgk_instr_site_values *sites; /* value sites, those of a kind in their order */
    size_t n_sites; /* number of them */
    const uint8_t *uniformity; /* as of pgk_instr_uniformity, (n_counts + 7) / 8 bytes; NULL: not
                                  known */
};
/* Adds a function's counters. Equal name and hash with another number of counters is a conflict
 * as between files: pgk_instr_conflicts() has it. */
int pgk_instr_build_function(struct pgk_instr *profile, const struct pgk_instr_addition *function,
                             struct pgk_err *err);
/* Adds the name of a virtual table, so that its id is known. */
int pgk_instr_build_vtable(struct pgk_instr *profile, const char *name, struct pgk_err *err);
/* Adds the build id of a binary, 1 to 64 bytes. */
int pgk_instr_build_binary_id(struct pgk_instr *profile, const uint8_t *bytes, size_t size,
                              struct pgk_err *err);
/* Adds an order of first calls: ids of `n` functions that were added before, for `weight` runs. */
int pgk_instr_build_trace(struct pgk_instr *profile, const uint64_t *ids, size_t n,
                          uint64_t weight, struct pgk_err *err);

/* Sums over the functions, with or without context: what compilers call the profile summary. */
struct pgk_instr_summary {
    size_t struct_size; /* sizeof(struct pgk_instr_summary), set by the caller */
    uint64_t functions, counters; /* how many there are */
    uint64_t max_entry_count, max_count; /* of entries of functions; of all counters */
    uint64_t max_inner_count;            /* of counters that are not of entries */
    uint64_t total_count;                /* sum of all counters, at most 2^64 - 1 */
};
/* Fills in the sums over functions with (`contextual`) or without context. */
void pgk_instr_summary(const struct pgk_instr *profile, bool contextual,
                       struct pgk_instr_summary *summary);

/* Functions whose inputs contradict each other: equal name and hash, but another number of
 * counters, bitmap bytes or value sites. A profile with such functions cannot be
 * written, unless they are dropped or kept. */
struct pgk_instr_conflict {
    size_t struct_size; /* sizeof(struct pgk_instr_conflict), set by the caller */
    const char *name; /* linkage name of the function */
    uint64_t hash; /* of its structure */
    const char *what;      /* "counters", ... */
    uint64_t one, other;   /* how many of them */
    const char *file;      /* the input that differed from those before */
};
/* Number of such functions. */
size_t pgk_instr_conflicts(const struct pgk_instr *profile);
/* Fills in conflict 0 <= i < pgk_instr_conflicts(). */
void pgk_instr_conflict(const struct pgk_instr *profile, size_t i,
                        struct pgk_instr_conflict *conflict);
/* Takes the functions in conflict out, after the last input; they stay in the list of
 * conflicts. PGK_E_NOMEM. */
int pgk_instr_drop_conflicts(struct pgk_instr *profile, struct pgk_err *err);
/* Or leaves them, after the last input, as the first input that has them, with all that agree with
 * it; they stay in the list of conflicts. */
void pgk_instr_keep_conflicts(struct pgk_instr *profile);

/* Adds all of `from`, each count times `weight` (1 or more), to `into`; counts that get too
 * large stay at the largest. The result does not depend on the order of additions.
 * PGK_E_MISMATCH if one comes from the front end and the other from IR. */
int pgk_instr_merge(struct pgk_instr *into, const struct pgk_instr *from, uint64_t weight,
                    struct pgk_err *err);

/* Takes out functions, all hashes of a name together, that never ran; `dropped`, which may be
 * NULL, is their number. */
int pgk_instr_drop_unused(struct pgk_instr *profile, size_t *dropped, struct pgk_err *err);

/* Leaves only functions whose names match `keep` and do not match `drop`, which are POSIX extended
 * regular expressions, found anywhere in the name, or NULL. PGK_E_ARG for one that is none. */
int pgk_instr_filter(struct pgk_instr *profile, const char *keep, const char *drop,
                     struct pgk_err *err);
/* Leaves `most` traces, a choice by what is in them, so that it depends on no order of inputs, and
 * of each the first `longest` functions; SIZE_MAX: all. Traces that get empty are taken out. How
 * many traces were seen stays, unless `longest` leaves none. */
void pgk_instr_limit_traces(struct pgk_instr *profile, size_t most, size_t longest);
/* Renames by a file of lines "OLD NEW" (blank lines and lines with # are passed over), everywhere:
 * functions, call targets, virtual tables, temporal traces. What gets one name is added up; what
 * contradicts is a conflict. Replaces the profile, which is as it was on failure. */
int pgk_instr_remap(struct pgk_instr **profile, const char *path, struct pgk_err *err);

/* How far two profiles agree: for each pair of counters the smaller share of its profile's
 * total, summed up. 1: the same distribution, 0: nothing in common. */
struct pgk_instr_overlap {
    size_t struct_size; /* sizeof(struct pgk_instr_overlap), set by the caller */
    double counters;                  /* 0 to 1 */
    double values[PGK_VALUE_KINDS];   /* of values seen, likewise; -1: neither has any */
    double base_total, test_total;    /* sums of all counters */
    size_t matched;                   /* functions in both */
    size_t mismatched;                /* in both by name, not by hash or shape */
    size_t only_base, only_test; /* functions of one side alone */
};
/* Of functions with or without context. PGK_E_MISMATCH if the counters of the two mean different
 * things, PGK_E_EMPTY if one has no counts. */
int pgk_instr_overlap(const struct pgk_instr *base, const struct pgk_instr *test,
                      bool contextual, struct pgk_instr_overlap *overlap, struct pgk_err *err);

/* Position of a function by its name's id and its hash; SIZE_MAX if there is none. */
size_t pgk_instr_lookup(const struct pgk_instr *profile, uint64_t id, uint64_t hash);

/* The forms of counters on disk. */
enum pgk_instr_form {
    PGK_INSTR_INDEXED, /* LLVM's .profdata */
    PGK_INSTR_TEXT,    /* .proftext, as llvm-profdata prints it */
    PGK_INSTR_RAW,     /* .profraw, as the program itself would have written it */
    PGK_INSTR_FORMS,   /* number of them */
};
/* "indexed", "text", "raw"; NULL for no form. */
const char *pgk_instr_form_name(enum pgk_instr_form form);
/* What counters are to be written as. */
struct pgk_instr_target {
    enum pgk_instr_form form; /* the form */
    uint32_t version; /* of indexed files 5 to 14, of raw ones 8 to 11; 0: the usual one, which of
                         raw ones is the newest. Of texts: 0 */
};
/* Writes the profile to `path` ("-": standard output), whole or not at all; pgk_indexed_write
 * writes heap data into the same file, too. Deterministic. Addresses in raw files are made up.
 * pgk_instr_loss says what is lost. PGK_E_EMPTY without functions, PGK_E_MISMATCH with conflicts,
 * PGK_E_ARG for no form or another version. Of raw files PGK_E_LIMIT for a function with more value
 * sites than the format can count (65535), a name that cannot stand in its list of names, or a
 * count that its readers refuse: above 2^56 from version 9 on, and so any function that is only
 * known to be hot or warm. */
int pgk_instr_write(const struct pgk_instr *profile, const char *path,
                    const struct pgk_instr_target *target, struct pgk_err *err);

/* What a file cannot hold, so that it is not written. */
struct pgk_instr_loss {
    size_t struct_size; /* sizeof(struct pgk_instr_loss), set by the caller */
    size_t bitmap_functions; /* functions with bitmaps: before index version 11, raw 9 */
    size_t vtable_functions; /* functions with virtual tables: before index 12, raw 10 */
    size_t traces;           /* before index 10, raw 9; a raw file has one at most */
    size_t traced_functions; /* raw: calls in its trace of functions without counters */
    size_t binary_ids;       /* build ids of programs: before index 9; texts */
    size_t cut_sites;        /* value sites with more than 255 values: the rarest are left out */
    size_t unknown_targets;  /* raw: call targets that have no counters, and so no address */
    size_t covered_twice;    /* raw: counts above 1 in a profile of coverage */
    bool loop_entries;       /* the mark that loop entries are counted: before index 10, raw 9 */
    bool hashes;             /* nothing is lost, but compilers look some functions up by other
                                hashes in files of this version, and so miss them */
    size_t uniform_functions; /* functions with uniformity: before index 14, raw 11; texts */
};
/* Fills in what the target cannot hold. PGK_E_ARG for no form or another version, PGK_E_NOMEM. */
int pgk_instr_loss(const struct pgk_instr *profile, const struct pgk_instr_target *target,
                   struct pgk_instr_loss *loss, struct pgk_err *err);

/* The index version to write instead of `wanted` so that compilers find the functions, which they
 * look up by hashes that depend on it: front-end profiles of LLVM 22 and later need 13 or later,
 * those of older releases and of rustc 12 at most. All others can be written at any. Hashes are
 * written as they are at every version. */
uint32_t pgk_instr_index_version(const struct pgk_instr *profile, uint32_t wanted);
/* The newest index version at which nothing of the profile is lost. */
uint32_t pgk_instr_lossless_version(const struct pgk_instr *profile);

/* Writes an indexed profile (.profdata) with heap data, counters or both to `path` ("-": standard
 * output), whole or not at all; either may be NULL. Deterministic: equal profiles give equal
 * bytes. Index versions are 5 to 14, with heap data 8 to 14. PGK_E_EMPTY without contexts or
 * functions, PGK_E_ARG for an unsupported pair of versions, or address frames left,
 * PGK_E_MISMATCH with conflicts. */
int pgk_indexed_write(const struct pgk_heap *heap, const struct pgk_instr *instr,
                      const char *path, const struct pgk_indexed_write_opts *opts,
                      struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
