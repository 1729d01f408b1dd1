/* Lists of names, compressed or not. */
#include "name_blocks.h"

#include "mem.h"

#include <inttypes.h>
#include <zlib.h>

/* The best ratio that zlib can reach; a larger one is a forged size. */
enum { ZLIB_GAIN_MAX = 1032, ZLIB_GAIN_BASE = 64 };

static int split(const char *plain, size_t size, pgk_name_fn *fn, void *ctx)
{
    const char *end = plain + size;
    for (const char *at = plain; at < end;) {
        const char *stop = memchr(at, 1, (size_t)(end - at));
        if (!stop)
            stop = end;
        PGK_TRY(fn(ctx, at, (size_t)(stop - at)));
        at = stop + 1;
    }
    return 0;
}

/* The stated size is believed only as far as so many compressed bytes can hold. */
static int inflate_block(struct pgk_cursor *c, const char *record, uint64_t plain_size,
                         uint64_t packed_size, pgk_name_fn *fn, void *ctx, struct pgk_err *err)
{
    uint64_t at = pgk_cur_off(c);
    const uint8_t *packed = pgk_cur_take(c, packed_size, "compressed names");
    PGK_TRY(pgk_cur_check(c, err, record));
    if (plain_size > packed_size * ZLIB_GAIN_MAX + ZLIB_GAIN_BASE)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, at, .record = record, .field = "size of names",
                              .found = PGK_F("%" PRIu64, plain_size),
                              .expected =
                                  PGK_F("what %" PRIu64 " compressed bytes can hold", packed_size),
                              .hint = "the profile is damaged; record it again");
    char *plain = pgk_mem_alloc(plain_size + 1, 1);
    if (!plain)
        return pgk_fail_nomem(err);
    uLongf got = plain_size;
    int status = uncompress((Bytef *)plain, &got, packed, packed_size);
    if (status == Z_MEM_ERROR)
        status = pgk_fail_nomem(err);
    else if (status != Z_OK || got != plain_size)
        status = pgk_cur_reject(
            c, err, PGK_E_CORRUPT, at, .record = record, .field = "compressed names",
            .found = status == Z_OK ? PGK_F("%lu bytes", got) : "bytes that are not a zlib stream",
            .expected = PGK_F("a zlib stream of %" PRIu64 " bytes", plain_size),
            .hint = "the profile is damaged; record it again");
    else
        status = split(plain, plain_size, fn, ctx);
    pgk_mem_free(plain);
    return status;
}

int pgk_name_blocks_read(struct pgk_cursor *c, const char *record, pgk_name_fn *fn, void *ctx,
                         struct pgk_err *err)
{
    for (;;) {
        while (pgk_cur_left(c) && !*c->at)
            c->at++;
        if (!pgk_cur_left(c))
            return 0;
        uint64_t plain_size = pgk_cur_uleb(c, "size of names"),
                 packed_size = pgk_cur_uleb(c, "compressed size of names");
        PGK_TRY(pgk_cur_check(c, err, record));
        if (packed_size) {
            PGK_TRY(inflate_block(c, record, plain_size, packed_size, fn, ctx, err));
            continue;
        }
        const uint8_t *plain = pgk_cur_take(c, plain_size, "names");
        PGK_TRY(pgk_cur_check(c, err, record));
        PGK_TRY(split((const char *)plain, plain_size, fn, ctx));
    }
}

int pgk_name_block_write(struct pgk_sink *out, const char *plain, size_t size, struct pgk_err *err)
{
    uLongf packed_size = compressBound(size);
    uint8_t *packed = pgk_mem_alloc(packed_size, 1);
    if (!packed ||
        compress2(packed, &packed_size, (const Bytef *)plain, size, Z_BEST_COMPRESSION) != Z_OK) {
        pgk_mem_free(packed);
        return pgk_fail_nomem(err);
    }
    pgk_sink_uleb(out, size);
    pgk_sink_uleb(out, packed_size);
    pgk_sink_bytes(out, packed, packed_size);
    pgk_mem_free(packed);
    return 0;
}
