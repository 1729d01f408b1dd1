/* The pre-inliner: which contexts of a profile are worth inlining, decided with the profile of the
 * whole program and the sizes of its functions in hand. What is not is added to the profile of the
 * function itself. */
#ifndef PGK_PREINLINE_H
#define PGK_PREINLINE_H

#include "function_sizes.h"

struct pgk_preinline_limits {
    uint64_t cold; /* counts up to this one are not worth anything */
    uint64_t hot;  /* from here on all is done */
    uint32_t hot_size, cold_size; /* bytes that are worth inlining there; 0: 1500 and none */
};

/* Replaces a context-sensitive profile by one with only the contexts to be inlined. */
int pgk_preinline(struct pgk_sample **profile, const struct pgk_function_sizes *sizes,
                  const struct pgk_preinline_limits *limits, struct pgk_err *err);

#endif
