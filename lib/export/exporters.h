/* The formats to which heap and sample profiles can be exported: a row of exporters.c per format,
 * and the functions that write them. To add one that shows call stacks, write a function that takes
 * them (weighted_stacks.h), declare it here and give it a row. */
#ifndef PGK_EXPORTERS_H
#define PGK_EXPORTERS_H

#include "sink.h"
#include "weighted_stacks.h"

typedef int pgk_stacks_export_fn(struct pgk_stacks *stacks, struct pgk_sink *out,
                                 struct pgk_err *err);
typedef int pgk_heap_export_fn(const struct pgk_heap *heap, const struct pgk_heap_export_opts *opts,
                               struct pgk_sink *out, struct pgk_err *err);
typedef int pgk_sample_export_fn(const struct pgk_sample *profile,
                                 const struct pgk_sample_export_opts *opts, struct pgk_sink *out,
                                 struct pgk_err *err);

/* Either `stacks`, for both kinds of profiles, or a function per kind where what is written
 * differs. */
struct pgk_exporter {
    struct pgk_export_format format;
    pgk_stacks_export_fn *stacks;
    enum pgk_stack_detail detail; /* of stacks */
    pgk_heap_export_fn *heap;
    pgk_sample_export_fn *sample;
};

/* PGK_E_ARG if there is none of that name. */
PGK_MUST_USE int pgk_exporter_find(const struct pgk_exporter **exporter, const char *name,
                                   struct pgk_err *err);

pgk_stacks_export_fn pgk_export_otlp, pgk_export_pprof, pgk_export_folded, pgk_export_speedscope;
pgk_heap_export_fn pgk_export_heap_page, pgk_export_heap_csv;
pgk_sample_export_fn pgk_export_sample_page, pgk_export_sample_csv;

#endif
