/* Pairs the calls of one function in a profile with those of the function in another build, after
 * lines have moved. */
#ifndef PGK_CALL_ALIGN_H
#define PGK_CALL_ALIGN_H

#include "fail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place with a call; in order of lines and columns, each place once. */
struct pgk_anchor {
    uint32_t offset, column; /* of the line from that of the declaration; column 0: unknown */
    bool several; /* calls of several functions stand there, as gcc has those of a macro */
};

/* Whether old call i may be new call j: 0 no, 1 perhaps, 2 they call the same function. */
typedef unsigned pgk_alike_fn(void *ctx, size_t i, size_t j);

struct pgk_aligned {
    uint32_t to;    /* new call; PGK_INDEX_NONE: none */
    bool ambiguous; /* others would fit as well */
};

/* Pairs as many calls of the same function as can be in order, preferring equal places and near
 * lines. to[i] belongs to old call i. */
PGK_MUST_USE int pgk_calls_align(const struct pgk_anchor *old, size_t n_old,
                                 const struct pgk_anchor *now, size_t n_now, pgk_alike_fn *alike,
                                 void *ctx, struct pgk_aligned *to, struct pgk_err *err);

#endif
