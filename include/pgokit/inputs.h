/* Choosing which files a merge reads: those of folders, and those that are sound. */
#ifndef PGOKIT_INPUTS_H
#define PGOKIT_INPUTS_H

#include "pgokit/err.h"
#include "pgokit/format.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A file of a folder. `format` is NULL for what is no profile: an empty file, one of no known
 * format, or a program. Returns 0, or a negative status that ends the walk. */
typedef int pgk_folder_fn(void *ctx, const char *path, const struct pgk_format *format);

/* Calls `fn` for each regular file in `folder` and the folders below it, in the order of the bytes
 * of their names, so that it is the same on every machine. Symbolic links are followed, a folder
 * that contains itself is passed over. `path`, which begins with `folder`, is valid during the
 * call. Returns what `fn` returned if that is not 0; PGK_E_IO if something cannot be looked into
 * or read. Any thread may call it, for different folders or the same. */
int pgk_folder_walk(const char *folder, pgk_folder_fn *fn, void *ctx, struct pgk_err *err);

/* An input that cannot be read, and why. */
typedef void pgk_unsound_fn(void *ctx, const struct pgk_input *input, const struct pgk_err *why);

/* Reads each of the *n inputs for itself and leaves only those that are sound profiles of the
 * kind, in their order; calls `fn` for each of the others. Of counters, what does not go with the
 * first sound one, because it counts something else, is not sound either. Indexed profiles with
 * heap data are sound if both parts are. PGK_E_NOMEM; PGK_E_ARG for a kind that it does not
 * know: it knows heap profiles, sample profiles and counters. */
int pgk_inputs_sift(enum pgk_kind kind, struct pgk_input *inputs, size_t *n, pgk_unsound_fn *fn,
                    void *ctx, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
