/* Frames of a calling context to the context's node in a profile. */
#ifndef PGK_CONTEXT_PATH_H
#define PGK_CONTEXT_PATH_H

#include "pgokit/gen.h"
#include "sample_model.h"

/* A function, and where in it the next one is called. No padding: frames are compared by byte. */
struct pgk_context_frame {
    uint64_t loc;
    uint64_t name;
};
typedef PGK_VEC(struct pgk_context_frame) pgk_context_vec;

/* How much of a context is kept. Zeroed but for `longest`: all. */
struct pgk_context_limits {
    size_t frames;  /* of functions and what is inlined into them, the innermost ones */
    size_t calls;   /* of the call stack, the innermost ones, and the function that they lead to */
    size_t longest; /* repetition of calls that is taken for recursion, and removed */
};
struct pgk_context_limits pgk_context_limits(const struct pgk_gen_opts *opts);

/* Removes what is not kept from `n` calls, outermost first; returns how many are left. */
size_t pgk_context_calls(const struct pgk_context_limits *limits, uint64_t *calls, size_t n);

/* Contexts come in runs with the same callers, so the last path is kept. */
struct pgk_context_path {
    struct pgk_sample *p;
    struct pgk_context_limits limits;
    pgk_context_vec known;
    PGK_VEC(uint32_t) nodes; /* of `known` */
};

/* The node of the context that ends in `frames[n - 1]`, whose location is of no matter; recursion
 * among the callers is compressed, which changes `frames`. 0 when out of memory. */
uint32_t pgk_context_node(struct pgk_context_path *path, struct pgk_context_frame *frames,
                          size_t n);
/* As pgk_context_node, for frames among which there is no recursion. */
uint32_t pgk_context_place(struct pgk_context_path *path, const struct pgk_context_frame *frames,
                           size_t n);
void pgk_context_path_free(struct pgk_context_path *path);

#endif
