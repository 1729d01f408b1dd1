/* Compression of a whole text at once. */
#ifndef PGK_DEFLATE_OUT_H
#define PGK_DEFLATE_OUT_H

#include "fail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void pgk_deflate_fn(void *ctx, const uint8_t *bytes, size_t n);

/* Gives the compressed bytes to `put`, piece by piece: zlib (RFC 1950), or gzip (RFC 1952)
 * without name and time. */
PGK_MUST_USE int pgk_deflate(const uint8_t *bytes, size_t size, bool gzip, pgk_deflate_fn *put,
                             void *ctx, struct pgk_err *err);

#endif
