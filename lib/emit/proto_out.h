/* Messages of protocol buffers, written. Failures stick: `full` is looked at once, at the end. */
#ifndef PGK_PROTO_OUT_H
#define PGK_PROTO_OUT_H

#include "vec.h"

#include <stdbool.h>
#include <stdint.h>

struct pgk_proto {
    PGK_VEC(uint8_t) bytes;
    bool full; /* out of memory */
};

void pgk_proto_varint(struct pgk_proto *m, uint64_t v);
/* A field with the default value 0 is left out, as proto3 does. */
void pgk_proto_number(struct pgk_proto *m, unsigned field, uint64_t v);
/* The same in 8 bytes, also if it is 0. */
void pgk_proto_word(struct pgk_proto *m, unsigned field, uint64_t v);
void pgk_proto_bytes(struct pgk_proto *m, unsigned field, const void *bytes, size_t n);
/* Appends `inner` as a field and empties it. */
void pgk_proto_message(struct pgk_proto *m, unsigned field, struct pgk_proto *inner);

#endif
