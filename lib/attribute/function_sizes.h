/* The size of the code of a function, on its own and inlined: a tree of reversed calling contexts,
 * the function first, then what it was inlined into. */
#ifndef PGK_FUNCTION_SIZES_H
#define PGK_FUNCTION_SIZES_H

#include "gen_binary.h"

struct pgk_size_node {
    uint64_t loc, hash;
    uint32_t name, parent;
    uint32_t first_child; /* by hash; 0: none */
    uint32_t size;        /* bytes + 1; 0: not known */
};

struct pgk_function_sizes {
    struct pgk_sample *p; /* of the names */
    PGK_VEC(struct pgk_size_node) nodes; /* [0] is the root */
    struct pgk_index index;
};

int pgk_function_sizes_open(struct pgk_function_sizes *sizes, struct pgk_sample *p,
                            struct pgk_err *err);
/* Adds the code of the sampled functions of a binary, as far as functions with a profile are
 * concerned; call sites are those of probes if it was
 * counted by probes. */
int pgk_function_sizes_add(struct pgk_function_sizes *sizes, struct pgk_gen_binary *binary,
                           unsigned threads, struct pgk_err *err);
void pgk_function_sizes_close(struct pgk_function_sizes *sizes);

/* Going down from 0. 0 when nothing is known. */
uint32_t pgk_function_sizes_child(const struct pgk_function_sizes *sizes, uint32_t node,
                                  uint64_t loc, uint32_t name);

/* The order of children in LLVM's trees: of the function's GUID and the call site. */
uint64_t pgk_call_site_hash(struct pgk_sample *p, uint32_t name, uint64_t loc);

#endif
