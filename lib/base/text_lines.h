/* Lists that people write: a name a line, or a pair of names a line. */
#ifndef PGK_TEXT_LINES_H
#define PGK_TEXT_LINES_H

#include "fail.h"

#include <stddef.h>
#include <stdint.h>

/* `number` counts lines from 1. What is not 0 ends the walk. */
typedef int pgk_line_fn(void *ctx, const char *line, size_t len, uint64_t number,
                        struct pgk_err *err);
/* Calls `fn` for each line of a file ("-": standard input) without the blanks around it, if
 * anything is left. */
int pgk_text_lines(const char *path, pgk_line_fn *fn, void *ctx, struct pgk_err *err);

typedef int pgk_pair_fn(void *ctx, const char *old, size_t n_old, const char *new, size_t n_new,
                        struct pgk_err *err);
/* Calls `fn` for each line "OLD NEW"; lines that begin with # are passed over. PGK_E_CORRUPT for
 * any other. */
int pgk_text_pairs(const char *path, pgk_pair_fn *fn, void *ctx, struct pgk_err *err);

#endif
