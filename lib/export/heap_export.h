/* Heap profiles in the formats of other viewers; one function per format. */
#ifndef PGK_HEAP_EXPORT_H
#define PGK_HEAP_EXPORT_H

#include "heap_frames.h"
#include "pgokit/report.h"
#include "sink.h"

/* What they all read. */
struct pgk_stacks_of {
    const struct pgk_heap *heap;
    const struct pgk_export_opts *opts;
    struct pgk_heap_frames frames;
    uint32_t *nodes; /* by context */
};

typedef int pgk_export_fn(struct pgk_stacks_of *stacks, struct pgk_sink *out,
                          struct pgk_err *err);
pgk_export_fn pgk_heap_pprof, pgk_heap_folded, pgk_heap_speedscope, pgk_heap_csv;

/* Type and unit of a weight, as pprof names them. */
struct pgk_weight_text {
    const char *name;        /* on our command line: "bytes" */
    const char *type, *unit; /* "alloc_space", "bytes" */
};
extern const struct pgk_weight_text pgk_weight_texts[PGK_WEIGHTS];

/* The weight of a context; 0 where the profile does not know it. */
uint64_t pgk_heap_weight(const struct pgk_mib *m, enum pgk_heap_weight weight);

#endif
