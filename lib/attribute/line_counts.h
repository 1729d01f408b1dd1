/* Counts of lines and call targets before they enter a profile.
 *
 * A line's own count comes from those of its instructions (the highest) or of its probes (the sum),
 * and a line of a function's own profile counts at least as often as it calls. */
#ifndef PGK_LINE_COUNTS_H
#define PGK_LINE_COUNTS_H

#include "sample_model.h"

struct pgk_line_count {
    uint32_t node, name; /* name: callee of a call target; 0 for the line's own count */
    uint64_t loc, count;
};

struct pgk_line_counts {
    struct pgk_sample *p;
    bool sum; /* of what is added to one line; else the highest */
    PGK_VEC(struct pgk_line_count) bodies, targets;
    PGK_VEC(uint64_t) weights; /* by node: for its total, without its inlinees */
};

/* False when out of memory. */
bool pgk_line_counts_body(struct pgk_line_counts *c, uint32_t node, uint64_t loc, uint64_t count);
bool pgk_line_counts_target(struct pgk_line_counts *c, uint32_t node, uint64_t loc, uint32_t name,
                            uint64_t count);
/* For the totals of the node and of what it is inlined into. */
bool pgk_line_counts_weight(struct pgk_line_counts *c, uint32_t node, uint64_t weight);
/* Puts all into the profile. */
bool pgk_line_counts_write(struct pgk_line_counts *c);
void pgk_line_counts_free(struct pgk_line_counts *c);

#endif
