/* Views of heap profiles, written to a stdio stream. */
#ifndef PGOKIT_REPORT_H
#define PGOKIT_REPORT_H

#include "pgokit/format.h"
#include "pgokit/heap.h"
#include "pgokit/sample.h"

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

/* ---- sample profiles, which must be finished ---- */

struct pgk_report_sample_opts {
    size_t struct_size;               /* sizeof(struct pgk_report_sample_opts) */
    const char *title;                /* what is shown: a file name */
    const struct pgk_file_info *info; /* may be NULL */
    size_t top;                       /* functions shown, hottest first; 0: all */
    bool lines;                       /* each with its lines, calls, types and inlinees */
    bool linkage_names;               /* names as the linker knows them */
};
/* For people: totals and the summary, then functions by samples. */
int pgk_report_sample_table(const struct pgk_sample *profile,
                            const struct pgk_report_sample_opts *opts, FILE *out,
                            struct pgk_err *err);
/* docs/formats/sample-json.md; schema "pgokit-sample-1". */
int pgk_report_sample_json(const struct pgk_sample *profile,
                           const struct pgk_report_sample_opts *opts, FILE *out,
                           struct pgk_err *err);

/* Schema "pgokit-sample-diff-1"; the first `top` functions, 0: all. */
int pgk_report_sample_diff_json(const struct pgk_sample_diff *diff, size_t top, FILE *out,
                                struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
