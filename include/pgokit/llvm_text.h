/* Profiles printed as llvm-profdata of LLVM 22 prints them, for scripts that read that. */
#ifndef PGOKIT_LLVM_TEXT_H
#define PGOKIT_LLVM_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pgokit/err.h"
#include "pgokit/format.h"
#include "pgokit/heap.h"
#include "pgokit/instr.h"
#include "pgokit/sample.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What is printed, as options of `llvm-profdata show` choose it. */
enum pgk_llvm_part {
    PGK_LLVM_ALL_FUNCTIONS = 1 << 0, /* all functions */
    PGK_LLVM_COUNTS = 1 << 1,        /* the counters of functions shown */
    PGK_LLVM_TARGETS = 1 << 2,       /* their targets of indirect calls, with statistics */
    PGK_LLVM_VTABLES = 1 << 3,       /* their virtual tables, with statistics */
    PGK_LLVM_MEMOPS = 1 << 4,        /* their sizes of memory operations, with statistics */
    PGK_LLVM_COVERED = 1 << 5,       /* only names of functions that ran */
    PGK_LLVM_HOT = 1 << 6,           /* the list of hot functions */
    PGK_LLVM_BINARY_IDS = 1 << 7,    /* build ids */
    PGK_LLVM_VERSION = 1 << 8,       /* the version of the format */
    PGK_LLVM_TRACES = 1 << 9,        /* orders of first calls */
    PGK_LLVM_SUMMARY = 1 << 10,      /* the detailed summary */
    PGK_LLVM_SYMBOLS = 1 << 11,      /* of samples: the list of symbols */
    PGK_LLVM_SECTIONS = 1 << 12,     /* of samples: only the sections of an extensible binary */
    PGK_LLVM_JSON = 1 << 13,         /* of samples: functions as JSON of LLVM */
    PGK_LLVM_TEXT = 1 << 14,         /* of counters: only the functions shown, as text profile */
};

/* How a profile is printed. */
struct pgk_llvm_print_opts {
    size_t struct_size;               /* sizeof(struct pgk_llvm_print_opts) */
    const struct pgk_file_info *info; /* of the file; may be NULL, then its version is 0 */
    uint32_t parts;                   /* bits of enum pgk_llvm_part */
    const char *function;             /* of counters: functions whose names contain it are shown;
                                         of samples: only the function of this name; NULL: none */
    size_t top;                       /* the list of so many hottest functions; 0: no such list */
    uint64_t value_cutoff;            /* of counters: functions without a counter of so much are
                                         only counted; 0: none */
    bool below_cutoff;                /* instead only these are listed */
    bool contextual;                  /* of counters of IR: those counted in their contexts */
    const uint32_t *cutoffs;          /* of the detailed summary: millionths of all counts; NULL:
                                         the shares that files have */
    size_t n_cutoffs;                 /* number of them */
    unsigned release;                 /* of LLVM, whose words it has; 0: 22 and later */
};

/* Heap data as `llvm-profdata show --memory` prints it, after a summary in comments: a raw profile
 * with its segments, which are read from `path` once more, another one as YAML, which goes to
 * standard output whatever `out` is. `heap` has functions, no addresses. PGK_E_NOMEM, PGK_E_IO. */
int pgk_heap_print_llvm(const struct pgk_heap *heap, const struct pgk_file_info *info,
                        const char *path, FILE *out, struct pgk_err *err);
/* Counters. PGK_E_NOMEM. */
int pgk_instr_print_llvm(const struct pgk_instr *profile, const struct pgk_llvm_print_opts *opts,
                         FILE *out, struct pgk_err *err);
/* Samples; the profile is finished. PGK_E_NOMEM. */
int pgk_sample_print_llvm(const struct pgk_sample *profile, const struct pgk_llvm_print_opts *opts,
                          FILE *out, struct pgk_err *err);
/* The sections of an extensible binary at `path`. PGK_E_ARG for another format. */
int pgk_sample_print_llvm_sections(const char *path, FILE *out, struct pgk_err *err);

/* How a comparison is printed. */
struct pgk_llvm_overlap_opts {
    size_t struct_size;            /* sizeof(struct pgk_llvm_overlap_opts) */
    const char *base_title, *test_title; /* names of the files */
    const char *function;          /* functions whose names contain it are shown one by one; NULL:
                                      none */
    bool has_value_cutoff;         /* so are those with a count of value_cutoff or more */
    uint64_t value_cutoff;         /* the count; used if has_value_cutoff */
    uint32_t similarity_cutoff;    /* of samples: so are those less similar, in millionths */
    bool contextual;               /* of counters of IR: sums are of those counted in contexts */
    unsigned release;              /* of LLVM, whose words it has; 0: 22 and later */
};
/* As `llvm-profdata overlap` prints it. PGK_E_MISMATCH as of pgk_instr_overlap, PGK_E_NOMEM. */
int pgk_instr_print_llvm_overlap(const struct pgk_instr *base, const struct pgk_instr *test,
                                 const struct pgk_llvm_overlap_opts *opts, FILE *out,
                                 struct pgk_err *err);
/* The same of finished sample profiles. PGK_E_MISMATCH as of pgk_sample_compare, PGK_E_NOMEM. */
int pgk_sample_print_llvm_overlap(const struct pgk_sample *base, const struct pgk_sample *test,
                                  const struct pgk_llvm_overlap_opts *opts, FILE *out,
                                  struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
