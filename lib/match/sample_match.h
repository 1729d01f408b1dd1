/* A sample profile whose functions have been aligned. */
#ifndef PGK_SAMPLE_MATCH_H
#define PGK_SAMPLE_MATCH_H

#include "line_align.h"

/* Counts what was found; as pgk_match_sample. */
PGK_MUST_USE int pgk_match_lines(struct pgk_function_match **match,
                                 const struct pgk_sample *profile,
                                 const struct pgk_line_align *lines, struct pgk_err *err);

/* Does the node count: it is not of a checksum that lost, nor in one that is? Callers come before
 * what they call, and is_live has space for all nodes. */
static inline bool pgk_sample_visit_live(const struct pgk_sample *p, uint32_t node, bool *is_live)
{
    const struct pgk_sample_node *n = pgk_sample_node(p, node);
    is_live[node] =
        !(n->flags & PGK_NODE_LOST) && (n->flags & PGK_NODE_CONTEXT || is_live[n->parent]);
    return is_live[node];
}

#endif
