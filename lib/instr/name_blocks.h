/* Lists of names in raw and indexed profiles.
 *
 * Blocks, with any number of zero bytes between them: ULEB128 size of the plain bytes,
 * ULEB128 size of the zlib stream (0: not compressed), then the one or the other. The plain
 * bytes are names joined by the byte 1. */
#ifndef PGK_NAME_BLOCKS_H
#define PGK_NAME_BLOCKS_H

#include "cursor.h"
#include "sink.h"

/* Gets each name; returns 0 to go on. */
typedef int pgk_name_fn(void *ctx, const char *name, size_t len);

/* Reads to the end of the cursor's window. */
PGK_MUST_USE int pgk_name_blocks_read(struct pgk_cursor *c, const char *record, pgk_name_fn *fn,
                                      void *ctx, struct pgk_err *err);

/* Writes plain bytes, names joined by the byte 1, as one compressed block. */
PGK_MUST_USE int pgk_name_block_write(struct pgk_sink *out, const char *plain, size_t size,
                                      struct pgk_err *err);

#endif
