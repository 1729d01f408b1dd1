/* Messages of protocol buffers, written. */
#include "proto_out.h"

static void put_byte(struct pgk_proto *m, uint8_t b)
{
    m->full |= !pgk_vec_push(&m->bytes, b);
}

void pgk_proto_varint(struct pgk_proto *m, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        put_byte(m, (uint8_t)(v | 0x80));
    put_byte(m, (uint8_t)v);
}

void pgk_proto_number(struct pgk_proto *m, unsigned field, uint64_t v)
{
    if (!v)
        return;
    pgk_proto_varint(m, field << 3);
    pgk_proto_varint(m, v);
}

void pgk_proto_word(struct pgk_proto *m, unsigned field, uint64_t v)
{
    pgk_proto_varint(m, field << 3 | 1);
    for (unsigned i = 0; i < 8; i++)
        put_byte(m, (uint8_t)(v >> 8 * i));
}

void pgk_proto_bytes(struct pgk_proto *m, unsigned field, const void *bytes, size_t n)
{
    pgk_proto_varint(m, field << 3 | 2);
    pgk_proto_varint(m, n);
    if (n && pgk_vec_reserve(&m->bytes, n)) {
        memcpy(m->bytes.v + m->bytes.n, bytes, n);
        m->bytes.n += n;
    } else if (n) {
        m->full = true;
    }
}

void pgk_proto_message(struct pgk_proto *m, unsigned field, struct pgk_proto *inner)
{
    pgk_proto_bytes(m, field, inner->bytes.v, inner->bytes.n);
    m->full |= inner->full;
    inner->bytes.n = 0;
}
