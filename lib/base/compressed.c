/* Compressed files, by libzstd and zlib. */
#include "compressed.h"

#include "mem.h"
#include "vec.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Content of at most this size is no bomb, however small its compressed form. */
#define FREE_BYTES ((size_t)64 << 20)

bool pgk_is_bomb(uint64_t plain_bytes, uint64_t packed_bytes)
{
    return plain_bytes > FREE_BYTES && plain_bytes / PGK_BOMB_RATIO > packed_bytes;
}

enum { PIECE_BYTES = 256 << 10, ZSTD_LEVEL = 3 };

enum pgk_compression pgk_compression_of(const uint8_t *bytes, size_t size)
{
    static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t skipped_magic[] = {0x2a, 0x4d, 0x18}; /* after 0x50 to 0x5f */
    static const uint8_t gzip_magic[] = {0x1f, 0x8b, 0x08};
    if (size >= 4 && (!memcmp(bytes, zstd_magic, 4) ||
                      ((bytes[0] & 0xf0) == 0x50 && !memcmp(bytes + 1, skipped_magic, 3))))
        return PGK_ZSTD;
    return size >= 3 && !memcmp(bytes, gzip_magic, 3) ? PGK_GZIP : PGK_PLAIN;
}

enum pgk_compression pgk_compression_for(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && !strcmp(path + n - 4, ".zst") ? PGK_ZSTD : PGK_PLAIN;
}

struct job {
    const uint8_t *bytes;
    size_t size, at; /* consumed so far */
    const char *file, *format;
    PGK_VEC(uint8_t) out;
    size_t limit, enough; /* bytes of output that are too many; that will do */
    struct pgk_err *err;
};

static int fail_at(const struct job *j, int status, const char *found, const char *expected)
{
    return pgk_fail(j->err, status, .file = j->file, .format = j->format,
                    .offset = &(uint64_t){j->at}, .record = "compressed data", .field = "piece",
                    .found = found, .expected = expected,
                    .hint = status == PGK_E_LIMIT ? "if this is meant, decompress the file first"
                                                  : "the file is damaged; copy it again");
}

static int fail_short(const struct job *j)
{
    return fail_at(j, PGK_E_TRUNCATED, "the end of the file", "the rest of the compressed data");
}

/* Reserves space for the next piece of output. */
static int grow_output(struct job *j)
{
    if (j->out.n > j->limit)
        return fail_at(j, PGK_E_LIMIT,
                       PGK_F("more than %zu bytes out of %zu", j->limit, j->size),
                       PGK_F("at most %d times as many bytes", PGK_BOMB_RATIO));
    if (!pgk_vec_reserve(&j->out, PIECE_BYTES))
        return pgk_fail(j->err, PGK_E_NOMEM, .file = j->file,
                        .hint = "decompress the file first, it needs less memory");
    return 0;
}

static int read_zstd(struct job *j)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    if (!z)
        return pgk_fail_nomem(j->err);
    int status = 0;
    size_t want = 1; /* 0: at the end of a piece */
    while (!status && (j->at < j->size || want) && j->out.n < j->enough) {
        status = grow_output(j);
        if (status)
            break;
        ZSTD_inBuffer in = {j->bytes, j->size, j->at};
        ZSTD_outBuffer out = {j->out.v + j->out.n, j->out.cap - j->out.n, 0};
        want = ZSTD_decompressStream(z, &out, &in);
        if (ZSTD_isError(want))
            status = fail_at(j, PGK_E_CORRUPT, ZSTD_getErrorName(want), "a zstd file");
        else if (in.pos == j->at && !out.pos && want)
            status = fail_short(j);
        j->at = in.pos;
        j->out.n += out.pos;
    }
    ZSTD_freeDStream(z);
    return status;
}

/* One gzip member after the other. */
static int read_gzip(struct job *j)
{
    enum { GZIP_ONLY = 16 + MAX_WBITS };
    z_stream z = {0};
    if (inflateInit2(&z, GZIP_ONLY) != Z_OK)
        return pgk_fail_nomem(j->err);
    int status = 0, answer = Z_OK;
    while (!status && (j->at < j->size || answer != Z_STREAM_END) && j->out.n < j->enough) {
        status = grow_output(j);
        if (status)
            break;
        if (answer == Z_STREAM_END)
            inflateReset(&z);
        size_t left = j->size - j->at, space = j->out.cap - j->out.n;
        uInt given = left < UINT_MAX ? (uInt)left : UINT_MAX;
        uInt asked = space < UINT_MAX ? (uInt)space : UINT_MAX;
        z.next_in = (Bytef *)(uintptr_t)(j->bytes + j->at);
        z.avail_in = given;
        z.next_out = j->out.v + j->out.n;
        z.avail_out = asked;
        answer = inflate(&z, Z_NO_FLUSH);
        bool stuck = answer == Z_OK && z.avail_in == given && z.avail_out == asked;
        if (answer == Z_BUF_ERROR || stuck)
            status = fail_short(j);
        else if (answer == Z_MEM_ERROR)
            status = pgk_fail_nomem(j->err);
        else if (answer != Z_OK && answer != Z_STREAM_END)
            status = fail_at(j, PGK_E_CORRUPT, z.msg ? z.msg : "wrong data", "a gzip file");
        j->at += given - z.avail_in;
        j->out.n += asked - z.avail_out;
    }
    inflateEnd(&z);
    return status;
}

int pgk_decompress(enum pgk_compression how, const uint8_t *bytes, size_t size, const char *file,
                   uint8_t **out, size_t *out_size, struct pgk_err *err)
{
    bool cut;
    uint8_t *content;
    size_t n;
    int status =
        pgk_decompress_head(how, bytes, size, SIZE_MAX, file, &content, &n, &cut, err);
    if (!status) {
        *out = content;
        *out_size = n;
    } else if (pgk_is_damage(status)) {
        pgk_mem_free(content);
    }
    return status;
}

int pgk_decompress_head(enum pgk_compression how, const uint8_t *bytes, size_t size,
                        size_t enough, const char *file, uint8_t **out, size_t *out_size,
                        bool *cut, struct pgk_err *err)
{
    struct job j = {.bytes = bytes, .size = size, .enough = enough, .file = file, .err = err,
                    .format = how == PGK_ZSTD ? "zstd file" : "gzip file"};
    if (__builtin_mul_overflow(size, (size_t)PGK_BOMB_RATIO, &j.limit) || j.limit > SIZE_MAX / 4)
        j.limit = SIZE_MAX / 4;
    if (j.limit < FREE_BYTES)
        j.limit = FREE_BYTES;
    int status = how == PGK_ZSTD ? read_zstd(&j) : read_gzip(&j);
    if (status && !pgk_is_damage(status)) {
        pgk_vec_free(&j.out);
        return status;
    }
    *out = j.out.v;
    *out_size = j.out.n;
    *cut = status || j.out.n >= enough;
    return status;
}

static bool compress_with(ZSTD_CCtx *z, uint8_t *piece, const uint8_t *bytes, size_t size,
                          pgk_compressed_fn *put, void *ctx)
{
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left;
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setPledgedSrcSize(z, size);
    do {
        ZSTD_outBuffer out = {piece, PIECE_BYTES, 0};
        left = ZSTD_compressStream2(z, &out, &in, ZSTD_e_end);
        if (ZSTD_isError(left) || !put(ctx, piece, out.pos))
            return false;
    } while (left);
    return true;
}

bool pgk_compress(const uint8_t *bytes, size_t size, pgk_compressed_fn *put, void *ctx)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    uint8_t *piece = pgk_mem_alloc(PIECE_BYTES, 1);
    bool ok = z && piece && compress_with(z, piece, bytes, size, put, ctx);
    pgk_mem_free(piece);
    ZSTD_freeCCtx(z);
    return ok;
}
