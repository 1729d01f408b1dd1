/* Sample profiles in the formats of other viewers; one function per format. */
#ifndef PGK_SAMPLE_EXPORT_H
#define PGK_SAMPLE_EXPORT_H

#include "export_out.h"
#include "pgokit/report.h"
#include "sample_tree.h"

/* What they all read. */
struct pgk_sample_stacks {
    const struct pgk_sample_export_opts *opts;
    struct pgk_sample_tree tree;
};

typedef int pgk_sample_export_fn(struct pgk_sample_stacks *s, struct pgk_sink *out,
                                 struct pgk_err *err);
pgk_sample_export_fn pgk_sample_pprof, pgk_sample_folded, pgk_sample_speedscope, pgk_sample_csv;

/* Calls `fn` with every node that has samples on lines of its own: the sum of them, and the
 * nodes from the outermost function to it. Stops at what is not 0. */
typedef int pgk_sample_stack_fn(void *ctx, const uint32_t *nodes, size_t n, uint64_t samples);
PGK_MUST_USE int pgk_sample_each_stack(const struct pgk_sample_tree *t, pgk_sample_stack_fn *fn,
                                       void *ctx, struct pgk_err *err);

/* The name of a node's function. */
static inline const char *pgk_sample_tree_name(const struct pgk_sample_tree *t, uint32_t node)
{
    return pgk_sample_tree_text(t, t->funcs.v[t->nodes.v[node].func].name);
}

#endif
