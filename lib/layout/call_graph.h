/* How often functions ran and called each other, which is what their order in a binary is made
 * from. */
#ifndef PGK_CALL_GRAPH_H
#define PGK_CALL_GRAPH_H

#include "vec.h"

#include <stdint.h>

struct pgk_graph_function {
    uint64_t size;  /* bytes of code, at least 1 */
    uint64_t count; /* how often code of it began to run; 0: it was not seen */
};

struct pgk_graph_call {
    uint32_t from, to; /* functions */
    uint64_t offset;   /* of the call, in bytes from the start of the caller */
    uint64_t count;
};

struct pgk_call_graph {
    PGK_VEC(struct pgk_graph_function) functions;
    PGK_VEC(struct pgk_graph_call) calls; /* calls of a function by itself have no meaning */
};

void pgk_call_graph_free(struct pgk_call_graph *graph);

#endif
