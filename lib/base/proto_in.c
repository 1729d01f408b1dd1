/* Messages of protocol buffers, read field by field. */
#include "proto_in.h"

#include <inttypes.h>

int pgk_proto_in_fail(const struct pgk_proto_in *in, uint64_t off, const char *record,
                      const char *field, const char *found, const char *expected)
{
    return pgk_fail(in->err, PGK_E_CORRUPT, .file = in->src->file, .format = in->src->format,
                    .offset = &off, .record = record, .field = field, .found = found,
                    .expected = expected, .hint = "the file is damaged; write it again");
}

static uint64_t fixed_value(struct pgk_cursor *c, uint64_t wire)
{
    return wire == PGK_PROTO_64 ? pgk_cur_u64(c, "value") : pgk_cur_u32(c, "value");
}

int pgk_proto_in_next(const struct pgk_proto_in *in, struct pgk_cursor *c, const char *record,
                      struct pgk_proto_field *f)
{
    if (!pgk_cur_left(c))
        return 0;
    *f = (struct pgk_proto_field){.off = pgk_cur_off(c)};
    const uint64_t tag = pgk_cur_uleb(c, "tag"), wire = tag & 7;
    f->number = tag >> 3;
    f->wire = (enum pgk_proto_wire)wire;
    f->is_number = wire != PGK_PROTO_BYTES;
    if (wire == PGK_PROTO_VARINT) {
        f->value = pgk_cur_uleb(c, "value");
    } else if (wire == PGK_PROTO_BYTES) {
        const uint64_t size = pgk_cur_uleb(c, "size");
        struct pgk_source src = *in->src;
        src.base_off = pgk_cur_off(c);
        const uint8_t *bytes = pgk_cur_take(c, size, "size");
        if (bytes)
            pgk_cur_init(&f->inside, bytes, (size_t)size, &src);
    } else if (wire == PGK_PROTO_64 || wire == PGK_PROTO_32) {
        f->value = fixed_value(c, wire);
    }
    PGK_TRY(pgk_cur_check(c, in->err, record));
    if (!f->number || (wire > PGK_PROTO_BYTES && wire != PGK_PROTO_32))
        return pgk_proto_in_fail(in, f->off, record, "tag", PGK_F("%" PRIu64, tag),
                                 "the number and kind of a field");
    return 1;
}

int pgk_proto_in_number(const struct pgk_proto_in *in, const struct pgk_proto_field *f,
                        const char *record, const char *field, uint64_t *value)
{
    if (!f->is_number)
        return pgk_proto_in_fail(in, f->off, record, field, "bytes", "a number");
    *value = f->value;
    return 0;
}

int pgk_proto_in_numbers(const struct pgk_proto_in *in, const struct pgk_proto_field *f,
                         const char *record, bool fixed, pgk_proto_number_fn *fn, void *ctx)
{
    if (f->is_number)
        return fn(ctx, f->value, f->off);
    struct pgk_cursor c = f->inside;
    while (pgk_cur_left(&c)) {
        const uint64_t off = pgk_cur_off(&c),
                       value = fixed ? pgk_cur_u64(&c, "number") : pgk_cur_uleb(&c, "number");
        PGK_TRY(pgk_cur_check(&c, in->err, record));
        PGK_TRY(fn(ctx, value, off));
    }
    return 0;
}
