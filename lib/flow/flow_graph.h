/* The control-flow graph of a function, read off its instructions. */
#ifndef PGK_FLOW_GRAPH_H
#define PGK_FLOW_GRAPH_H

#include "code.h"
#include "fail.h"
#include "flow_balance.h"
#include "functions.h"

struct pgk_flow_place {
    uint64_t low, last; /* addresses of the first and the last instruction */
    uint64_t high;      /* after it */
    uint32_t n;         /* instructions */
};

struct pgk_flow_graph {
    PGK_VEC(struct pgk_flow_place) places; /* ascending; parallel to the first blocks */
    pgk_flow_blocks blocks; /* one more at the end stands for where indirect jumps lead: control
                             * goes through it from them to all blocks that they may go to */
    uint32_t entry;         /* block that calls enter */
    pgk_flow_edges edges;
    PGK_VEC(uint64_t) leaders; /* scratch */
};

/* The graph of a function; what was in `graph` is overwritten. Targets of indirect jumps come of
 * tables of offsets, as compilers make them for a switch; and what no other path leads to may be
 * one, too. */
int pgk_flow_graph_make(struct pgk_flow_graph *graph, struct pgk_code *code,
                        const struct pgk_functions *functions, uint32_t function,
                        struct pgk_err *err);
/* Position of the block that holds `addr`; UINT32_MAX if none does. */
uint32_t pgk_flow_graph_find(const struct pgk_flow_graph *graph, uint64_t addr);
void pgk_flow_graph_free(struct pgk_flow_graph *graph);

#endif
