/* Callers that tail calls hide: A calls B, B jumps to C, and the stack shows A right above C. The
 * jumps that lead from what A calls to C are found in the sampled branches, if there is exactly
 * one path. */
#ifndef PGK_MISSING_FRAMES_H
#define PGK_MISSING_FRAMES_H

#include "call_trie.h"
#include "functions.h"

struct pgk_call_edge { /* a branch that was sampled */
    uint64_t from;
    uint32_t caller, callee; /* functions */
};
typedef PGK_VEC(struct pgk_call_edge) pgk_edge_vec;

struct pgk_missing_path {
    uint64_t call;
    uint32_t function;
    uint32_t first, n; /* jumps of it */
};

struct pgk_missing_frames {
    const struct pgk_functions *functions;
    pgk_edge_vec calls;      /* ascending by address */
    pgk_edge_vec tail_calls; /* ascending by caller */
    bool *is_tail_called;    /* by function */
    PGK_VEC(struct pgk_missing_path) paths; /* that were looked for */
    struct pgk_index index;
    pgk_addr_vec jumps;
};

/* To be closed in any case. */
int pgk_missing_frames_open(struct pgk_missing_frames *m, const struct pgk_functions *functions,
                            struct pgk_code *code, const struct pgk_call_counts *branches,
                            struct pgk_err *err);
void pgk_missing_frames_close(struct pgk_missing_frames *m);

/* Appends the jumps that lead from the call at `call` to the function around `addr`; often none.
 * False when out of memory. */
bool pgk_missing_frames_add(struct pgk_missing_frames *m, uint64_t call, uint64_t addr,
                            pgk_addr_vec *into);

#endif
