/* Structs of options and of results that grow, between callers and a library of different age.
 *
 * A public struct that may get more fields begins with `size_t struct_size`, which the caller sets
 * to the sizeof of its own headers. Fields are only ever added at the end, zero means the default,
 * and a new field never lies in the former padding after the last one, because older callers have
 * undefined bytes there. */
#ifndef PGK_OPTS_H
#define PGK_OPTS_H

#include "fail.h"

/* Takes the options of a caller into `into`, a struct of the size that this library knows. An
 * older caller's shorter struct gets zeros for the rest, NULL is all zeros; into->struct_size is
 * this library's. PGK_E_ARG, which names the function, for a size that cannot be (`struct_size` was
 * not set), and for a newer caller's longer struct if anything in its unknown tail is not zero. */
PGK_MUST_USE int pgk_opts_take(void *into, size_t known_size, const void *given,
                               const char *function, struct pgk_err *err);
/* To be used in the public function itself. */
#define PGK_OPTS_TAKE(into, given, err) \
    pgk_opts_take((into), sizeof *(into), (given), __func__, (err))

/* Copies a result to the caller's struct, up to its struct_size; newer fields, which this library
 * does not know, become zero. NULL takes nothing. */
void pgk_result_give(void *into, const void *result, size_t known_size);
#define PGK_RESULT_GIVE(into, result) pgk_result_give((into), (result), sizeof *(result))

#endif
