/* Views of profiles, written to a stdio stream. */
#ifndef PGOKIT_REPORT_H
#define PGOKIT_REPORT_H

#include "pgokit/format.h"
#include "pgokit/heap.h"
#include "pgokit/instr.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum pgk_heap_sort {
    PGK_SORT_BYTES,    /* bytes allocated in all */
    PGK_SORT_COUNT,    /* objects */
    PGK_SORT_ACCESSES, /* loads and stores */
    PGK_SORT_LIFETIME, /* average lifetime */
    PGK_SORT_DENSITY,  /* accesses per byte */
    PGK_SORTS
};
const char *pgk_heap_sort_name(enum pgk_heap_sort sort); /* "bytes", ... */

struct pgk_report_opts {
    size_t struct_size;
    const char *title;              /* what is shown: a file name */
    const struct pgk_file_info *info; /* may be NULL */
    enum pgk_heap_sort sort;        /* falling; ties by stack, so the order is the profile's own */
    size_t top;                     /* contexts shown; 0: all */
    size_t depth;                   /* frames shown of a stack; 0: all */
    unsigned width;                 /* columns; 0: 100 */
    bool colour;                    /* ANSI colours */
};

/* For people: totals, then the heaviest contexts with their stacks. */
int pgk_report_heap_table(const struct pgk_heap *heap, const struct pgk_report_opts *opts,
                          FILE *out, struct pgk_err *err);
/* Every field of every context and every function record; the profile's order if opts->top
 * is 0. */
int pgk_report_heap_fields(const struct pgk_heap *heap, const struct pgk_report_opts *opts,
                           FILE *out, struct pgk_err *err);
/* docs/formats/heap-json.md; schema "pgokit-heap-1". Contexts and records in the profile's
 * order if opts->top is 0, else the heaviest contexts and no records. */
int pgk_report_heap_json(const struct pgk_heap *heap, const struct pgk_report_opts *opts,
                         FILE *out, struct pgk_err *err);

/* ---- instrumentation profiles ---- */

enum pgk_instr_sort {
    PGK_INSTR_SORT_TOTAL, /* all counters of the function */
    PGK_INSTR_SORT_ENTRY, /* calls */
    PGK_INSTR_SORT_MAX,   /* its largest counter */
    PGK_INSTR_SORT_NAME,  /* rising */
    PGK_INSTR_SORTS
};
const char *pgk_instr_sort_name(enum pgk_instr_sort sort); /* "total", ... */

struct pgk_instr_report_opts {
    size_t struct_size;
    const char *title;                /* what is shown: a file name */
    const struct pgk_file_info *info; /* may be NULL */
    enum pgk_instr_sort sort;         /* falling but for names; ties by name, then hash */
    size_t top;                       /* functions shown; 0: all */
    const char *function;             /* only functions of this name, with all counters and
                                         values; NULL: all functions */
    bool colour;                      /* ANSI colours */
};

/* For people: totals, then the functions that ran most. PGK_E_EMPTY if there is none of the
 * wanted name. */
int pgk_report_instr_table(const struct pgk_instr *instr, const struct pgk_instr_report_opts *opts,
                           FILE *out, struct pgk_err *err);
/* docs/formats/instr-json.md; schema "pgokit-instr-1". */
int pgk_report_instr_json(const struct pgk_instr *instr, const struct pgk_instr_report_opts *opts,
                          FILE *out, struct pgk_err *err);

/* How two profiles differ: their overlap, and the opts->top functions whose shares of the whole
 * changed most. */
int pgk_report_instr_diff(const struct pgk_instr *base, const struct pgk_instr *test,
                          bool contextual, bool json, const struct pgk_instr_report_opts *opts,
                          FILE *out, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
