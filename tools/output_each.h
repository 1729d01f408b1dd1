/* Outputs of gen in a folder: a file for each binary that was sampled. */
#ifndef PGK_OUTPUT_EACH_H
#define PGK_OUTPUT_EACH_H

#include "cli.h"

/* A folder, or a path that can be nothing else. */
bool output_is_folder(const char *path);
/* Makes the folder, and calls back for each of the `n` binaries that was sampled with the path of
 * its file there: its name and the suffix. Stops at what does not return 0. */
int output_each(const struct pgk_gen *gen, size_t n, const char *folder, const char *suffix,
                int (*write)(void *ctx, uint32_t binary, const char *path, struct pgk_err *err),
                void *ctx, struct pgk_err *err);
/* An error of the command line's own. */
int output_fail(struct pgk_err *err, int status, const char *path, const char *found,
                const char *hint);

#endif
