/* Going over the records of a perf.data file. */
#include "perf_data_priv.h"

#include <inttypes.h>
#include <zstd.h>

enum { RECORD_HEADER = 8, PIECE_BYTES = 1 << 18 };

struct walk {
    const struct pgk_perf_data *file;
    perf_record_fn *fn;
    void *ctx;
    struct pgk_err *err;
    uint64_t ordinal;
    uint64_t released; /* offset */
    bool stream;       /* more bytes come */
    /* Packed records are one stream of bytes, in which a record may begin in one piece and end
     * in the next. */
    ZSTD_DStream *unpack;
    PGK_VEC(uint8_t) unpacked;
};

struct pgk_cursor pgk_perf_body(const struct pgk_perf_data *file, const struct perf_record *record)
{
    struct pgk_cursor c;
    struct pgk_source src = file->src;
    src.base_off = record->at + RECORD_HEADER;
    pgk_cur_init(&c, record->body, record->size, &src);
    return c;
}

static int unpack(struct walk *w, const struct perf_record *record);

/* The bytes after a record that are not part of its size. */
static int take_trailing(struct walk *w, struct perf_record *record, struct pgk_cursor *c)
{
    struct pgk_cursor body = pgk_perf_body(w->file, record);
    if (record->type == RECORD_AUXTRACE)
        record->trailing_size = pgk_cur_u64(&body, "size of the trace");
    else if (record->type == RECORD_TRACING_DATA)
        record->trailing_size = pgk_cur_u32(&body, "size of the tracing data");
    else
        return 0;
    PGK_TRY(pgk_cur_check(&body, w->err, PGK_F("record %" PRIu64, w->ordinal)));
    if (w->stream && record->trailing_size > pgk_cur_left(c))
        return 0;
    record->trailing = pgk_cur_take(c, record->trailing_size, "trace");
    return pgk_cur_check(c, w->err, PGK_F("trace after record %" PRIu64, w->ordinal));
}

/* Visits the records of a run of bytes. An incomplete last one is left over if `partial`. */
static int visit(struct walk *w, struct pgk_cursor *c, bool partial, bool packed)
{
    while (pgk_cur_left(c)) {
        uint16_t misc_size[2];
        uint32_t type;
        uint64_t at = pgk_cur_off(c);
        size_t left = pgk_cur_left(c);
        if (partial && left < RECORD_HEADER)
            return 0;
        if (PGK_UNLIKELY(!packed && at - w->released >= PGK_PERF_RELEASE_BYTES)) {
            pgk_filemap_done(w->file->map, w->released, at);
            w->released = at;
        }
        const uint8_t *head = pgk_cur_take(c, RECORD_HEADER, "record header");
        PGK_TRY(pgk_cur_check(c, w->err, PGK_F("record %" PRIu64, w->ordinal + 1)));
        memcpy(&type, head, sizeof type);
        memcpy(misc_size, head + sizeof type, sizeof misc_size);
        if (partial && misc_size[1] > left) {
            c->at = head;
            return 0;
        }
        w->ordinal++;
        if (misc_size[1] < RECORD_HEADER || misc_size[1] > left)
            return pgk_cur_reject(
                c, w->err, misc_size[1] > left ? PGK_E_TRUNCATED : PGK_E_CORRUPT, at + 6,
                .record = PGK_F("record %" PRIu64 " of type %" PRIu32, w->ordinal, type),
                .field = "size", .found = PGK_F("%u bytes", misc_size[1]),
                .expected = PGK_F("8 to the %zu bytes left", left),
                .hint = "the recording is cut short or damaged; record again");
        struct perf_record record = {.type = type,
                                     .misc = misc_size[0],
                                     .size = misc_size[1] - RECORD_HEADER,
                                     .at = packed ? c->src.base_off : at,
                                     .ordinal = w->ordinal};
        record.body = pgk_cur_take(c, record.size, "record");
        PGK_TRY(take_trailing(w, &record, c));
        if (record.trailing_size && !record.trailing) { /* with what comes */
            c->at = head;
            w->ordinal--;
            return 0;
        }
        if (type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2)
            PGK_TRY(packed ? pgk_cur_reject(c, w->err, PGK_E_CORRUPT, record.at,
                                            .field = "record type",
                                            .found = "a packed record in a packed record",
                                            .expected = "a record of events",
                                            .hint = "the recording is damaged; record again")
                           : unpack(w, &record));
        else
            PGK_TRY(w->fn(w->ctx, &record));
    }
    return 0;
}

/* Visits what is whole of the unpacked bytes and keeps the rest. */
static int visit_unpacked(struct walk *w, uint64_t at)
{
    struct pgk_cursor c;
    struct pgk_source src = w->file->src;
    src.base_off = at;
    pgk_cur_init(&c, w->unpacked.v, w->unpacked.n, &src);
    PGK_TRY(visit(w, &c, true, true));
    size_t done = (size_t)(c.at - c.start);
    if (done) {
        memmove(w->unpacked.v, w->unpacked.v + done, w->unpacked.n - done);
        w->unpacked.n -= done;
    }
    return 0;
}

static int unpack(struct walk *w, const struct perf_record *record)
{
    struct pgk_cursor c = pgk_perf_body(w->file, record);
    uint64_t size =
        record->type == RECORD_COMPRESSED2 ? pgk_cur_u64(&c, "size of packed data") : record->size;
    const uint8_t *packed = pgk_cur_take(&c, size, "packed data");
    PGK_TRY(pgk_cur_check(&c, w->err, PGK_F("packed record %" PRIu64, record->ordinal)));
    if (!w->unpack && !(w->unpack = ZSTD_createDStream()))
        return pgk_fail_nomem(w->err);
    ZSTD_inBuffer in = {packed, size, 0};
    bool more = true;
    while (in.pos < in.size || more) {
        if (!pgk_vec_reserve(&w->unpacked, PIECE_BYTES))
            return pgk_fail_nomem(w->err);
        ZSTD_outBuffer out = {w->unpacked.v + w->unpacked.n, PIECE_BYTES, 0};
        size_t result = ZSTD_decompressStream(w->unpack, &out, &in);
        if (ZSTD_isError(result))
            return pgk_cur_reject(&c, w->err, PGK_E_CORRUPT, record->at,
                                  .record = PGK_F("packed record %" PRIu64, record->ordinal),
                                  .field = "zstd data", .found = ZSTD_getErrorName(result),
                                  .expected = "a stream of zstd",
                                  .hint = "the recording is damaged; record again");
        w->unpacked.n += out.pos;
        more = out.pos == out.size;
        PGK_TRY(visit_unpacked(w, record->at));
    }
    return 0;
}

int pgk_perf_walk(const struct pgk_perf_data *file, perf_record_fn *fn, void *ctx,
                  struct pgk_err *err)
{
    struct walk w = {.file = file, .fn = fn, .ctx = ctx, .err = err};
    struct pgk_cursor c;
    struct pgk_source src = file->src;
    src.base_off = file->data_off;
    pgk_cur_init(&c, file->bytes + file->data_off, file->data_end - file->data_off, &src);
    int status = visit(&w, &c, file->info.interrupted, false);
    if (!status && w.unpacked.n && !file->info.interrupted)
        status = pgk_cur_reject(
            &c, err, PGK_E_TRUNCATED, file->data_end, .record = "packed records",
            .field = "last record", .found = PGK_F("%zu bytes of it", w.unpacked.n),
            .expected = "all of it", .hint = "the recording is cut short; record again");
    ZSTD_freeDStream(w.unpack);
    pgk_vec_free(&w.unpacked);
    return status;
}

/* What is left of a piece and the next one. */
int pgk_perf_walk_stream(struct pgk_perf_data *file, perf_record_fn *fn, void *ctx,
                         struct pgk_err *err)
{
    struct walk w = {.file = file, .fn = fn, .ctx = ctx, .err = err, .stream = true};
    PGK_VEC(uint8_t) bytes = {0};
    struct pgk_source src = file->src;
    struct pgk_cursor c;
    ssize_t got = 1;
    int status = 0;
    src.base_off = file->data_off;
    while (got > 0 && !status) {
        if (!pgk_vec_reserve(&bytes, PIECE_BYTES)) {
            status = pgk_fail_nomem(err);
            break;
        }
        got = pgk_read_some(file->fd, bytes.v + bytes.n, PIECE_BYTES);
        if (got < 0) {
            status = pgk_fail_errno(err, file->src.file, "read");
            break;
        }
        bytes.n += (size_t)got;
        w.stream = got > 0;
        pgk_cur_init(&c, bytes.v, bytes.n, &src);
        status = visit(&w, &c, w.stream, false);
        size_t done = (size_t)(c.at - c.start);
        memmove(bytes.v, bytes.v + done, bytes.n - done);
        bytes.n -= done;
        src.base_off += done;
    }
    file->info.bytes = src.base_off + bytes.n;
    if (!status && w.unpacked.n)
        status = pgk_cur_reject(
            &c, err, PGK_E_TRUNCATED, src.base_off, .record = "packed records",
            .field = "last record", .found = PGK_F("%zu bytes of it", w.unpacked.n),
            .expected = "all of it", .hint = "the recording is cut short; record again");
    ZSTD_freeDStream(w.unpack);
    pgk_vec_free(&w.unpacked);
    pgk_vec_free(&bytes);
    return status;
}
