/* Compressed files: zstd, and gzip for reading. */
#ifndef PGK_COMPRESSED_H
#define PGK_COMPRESSED_H

#include "fail.h"

#include <stdbool.h>
#include <stdint.h>

enum pgk_compression { PGK_PLAIN, PGK_ZSTD, PGK_GZIP };

/* By the first bytes. */
enum pgk_compression pgk_compression_of(const uint8_t *bytes, size_t size);
/* By the end of a name: PGK_ZSTD for ".zst", else PGK_PLAIN. */
enum pgk_compression pgk_compression_for(const char *path);

/* Whether bytes that claim to become so many were made to exhaust their reader's memory: real ones
 * shrink to a tenth, rarely to a fiftieth. */
enum { PGK_BOMB_RATIO = 200 };
bool pgk_is_bomb(uint64_t plain_bytes, uint64_t packed_bytes);

/* All content of a compressed file, which may be several pieces one after the other; free
 * *out with pgk_mem_free. PGK_E_TRUNCATED and PGK_E_CORRUPT name the offset in the compressed
 * file; PGK_E_LIMIT if a small file claims to be a huge one. */
PGK_MUST_USE int pgk_decompress(enum pgk_compression how, const uint8_t *bytes, size_t size,
                                const char *file, uint8_t **out, size_t *out_size,
                                struct pgk_err *err);
/* As pgk_decompress, but the content may end after the first `enough` bytes; *cut says if it
 * does. If the file is damaged, *out also has the content before the damage. */
PGK_MUST_USE int pgk_decompress_head(enum pgk_compression how, const uint8_t *bytes, size_t size,
                                     size_t enough, const char *file, uint8_t **out,
                                     size_t *out_size, bool *cut, struct pgk_err *err);

/* Calls `put` with the pieces of a zstd file of these bytes; false when `put` says so
 * or memory runs out. Equal bytes give equal files. */
typedef bool pgk_compressed_fn(void *ctx, const uint8_t *bytes, size_t size);
bool pgk_compress(const uint8_t *bytes, size_t size, pgk_compressed_fn *put, void *ctx);

#endif
