/* Folders of recordings, and the program that CPU profiles of other profilers are of. */
#ifndef PGK_GEN_FOLDER_H
#define PGK_GEN_FOLDER_H

#include "fail.h"
#include "pgokit/gen.h"

#include <limits.h>

/* Calls `fn` for the regular files in a folder and the folders in it, by name; for a path that is
 * no folder, for that alone. */
typedef int pgk_gen_file_fn(void *ctx, const char *path, struct pgk_err *err);
PGK_MUST_USE int pgk_gen_each_file(const char *path, pgk_gen_file_fn *fn, void *ctx,
                                   struct pgk_err *err);

/* If profiles of other profilers are among the files of a path, adds the file with most of their
 * samples to the set, and sets *done; else `other` is the first recording of a folder, if there is
 * one. */
PGK_MUST_USE int pgk_gen_find_stacks(const char *path, struct pgk_binaries *binaries,
                                     const struct pgk_gen_opts *opts, struct pgk_gen_found *found,
                                     bool *done, char other[static PATH_MAX], struct pgk_err *err);

#endif
