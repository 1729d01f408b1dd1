/* Views of heap profiles and of pseudo probes, written to a stdio stream. */
#ifndef PGOKIT_REPORT_H
#define PGOKIT_REPORT_H

#include "pgokit/format.h"
#include "pgokit/heap.h"
#include "pgokit/probe.h"

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

struct pgk_probe_report_opts {
    size_t struct_size;
    const char *title; /* what is shown: a file name */
    bool list;         /* every function with its tree of probes */
    bool colour;       /* ANSI colours */
};
/* For people: how many probes of what type, how deep functions are inlined, what the sections
 * take; then, if asked for, the functions by address. `index` is of all functions. */
int pgk_report_probes_table(const struct pgk_probes *probes, const struct pgk_probe_index *index,
                            const struct pgk_probe_report_opts *opts, FILE *out,
                            struct pgk_err *err);
/* docs/formats/probes-json.md; schema "pgokit-probes-1". */
int pgk_report_probes_json(const struct pgk_probes *probes, const struct pgk_probe_index *index,
                           const struct pgk_probe_report_opts *opts, FILE *out,
                           struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
