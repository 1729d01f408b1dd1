/* Code of a build by the names of its functions. */
#ifndef PGK_BUILT_CODE_H
#define PGK_BUILT_CODE_H

#include "binary_set.h"
#include "built_model.h"

/* Adds the sizes and places of the functions of binary number `binary`. */
PGK_MUST_USE int pgk_built_add_code(struct pgk_built *build, struct pgk_binaries *binaries,
                                    uint32_t binary, unsigned threads, struct pgk_err *err);

/* Ticks at addresses of a binary, ascending. */
struct pgk_built_ticks {
    PGK_VEC(uint64_t) addrs, counts;
};
PGK_MUST_USE int pgk_built_add_ticks(struct pgk_built *build, struct pgk_binaries *binaries,
                                     uint32_t binary, const struct pgk_built_ticks *ticks,
                                     unsigned threads, struct pgk_err *err);

#endif
