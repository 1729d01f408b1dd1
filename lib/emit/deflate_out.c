/* Compression of a whole text at once. */
#include "deflate_out.h"

#include <zlib.h>

int pgk_deflate(const uint8_t *bytes, size_t size, bool gzip, pgk_deflate_fn *put, void *ctx,
                struct pgk_err *err)
{
    enum { PIECE = 1 << 30, MEMORY = 8 }; /* zlib takes its input in pieces of 32 bits */
    uint8_t buf[1 << 14];
    z_stream z = {0};
    int ended = Z_OK;
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + (gzip ? 16 : 0), MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return pgk_fail_nomem(err);
    while (ended == Z_OK) {
        if (!z.avail_in && size) {
            z.next_in = (Bytef *)bytes;
            z.avail_in = (uInt)(size < PIECE ? size : PIECE);
            bytes += z.avail_in;
            size -= z.avail_in;
        }
        z.next_out = buf;
        z.avail_out = sizeof buf;
        ended = deflate(&z, size ? Z_NO_FLUSH : Z_FINISH);
        put(ctx, buf, sizeof buf - z.avail_out);
    }
    deflateEnd(&z);
    return 0;
}
