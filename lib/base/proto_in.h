/* Messages of protocol buffers, read field by field. A message is a window of a cursor, so that
 * nothing of it is copied. */
#ifndef PGK_PROTO_IN_H
#define PGK_PROTO_IN_H

#include "cursor.h"

/* How a field is laid out; in a tag after its number. */
enum pgk_proto_wire { PGK_PROTO_VARINT, PGK_PROTO_64, PGK_PROTO_BYTES, PGK_PROTO_32 = 5 };

/* Where messages are read from. */
struct pgk_proto_in {
    const struct pgk_source *src;
    struct pgk_err *err;
};

/* A field of a message. */
struct pgk_proto_field {
    uint64_t number, value; /* value: of a number */
    enum pgk_proto_wire wire;
    bool is_number; /* else a text, a message, or packed numbers: */
    struct pgk_cursor inside;
    uint64_t off; /* in the file */
};

/* The next field of a message: 1, 0 at its end, or an error. */
PGK_MUST_USE int pgk_proto_in_next(const struct pgk_proto_in *in, struct pgk_cursor *c,
                                   const char *record, struct pgk_proto_field *f);
/* The value of a number; bytes in its place are an error. */
PGK_MUST_USE int pgk_proto_in_number(const struct pgk_proto_in *in, const struct pgk_proto_field *f,
                                     const char *record, const char *field, uint64_t *value);
/* Calls `fn` for a number, or for each of those that are packed in the field: as varints, or in
 * `fixed` of 8 bytes each. */
typedef int pgk_proto_number_fn(void *ctx, uint64_t value, uint64_t off);
PGK_MUST_USE int pgk_proto_in_numbers(const struct pgk_proto_in *in,
                                      const struct pgk_proto_field *f, const char *record,
                                      bool fixed, pgk_proto_number_fn *fn, void *ctx);
/* PGK_E_CORRUPT at an offset. */
PGK_MUST_USE int pgk_proto_in_fail(const struct pgk_proto_in *in, uint64_t off, const char *record,
                                   const char *field, const char *found, const char *expected);

#endif
