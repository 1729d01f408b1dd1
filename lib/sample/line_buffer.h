/* Bytes under construction, flushed to a sink in large pieces. */
#ifndef PGK_LINE_BUFFER_H
#define PGK_LINE_BUFFER_H

#include "sink.h"
#include "vec.h"

struct pgk_line {
    PGK_VEC(uint8_t) bytes;
    bool failed; /* out of memory */
};

static inline uint8_t *pgk_line_reserve(struct pgk_line *l, size_t n)
{
    if (PGK_UNLIKELY(!pgk_vec_reserve(&l->bytes, n))) {
        l->failed = true;
        return NULL;
    }
    return l->bytes.v + l->bytes.n;
}

static inline void pgk_line_byte(struct pgk_line *l, char c)
{
    uint8_t *to = pgk_line_reserve(l, 1);
    if (to) {
        *to = (uint8_t)c;
        l->bytes.n++;
    }
}

static inline void pgk_line_bytes(struct pgk_line *l, const void *bytes, size_t n)
{
    uint8_t *to = pgk_line_reserve(l, n);
    if (to && n) {
        memcpy(to, bytes, n);
        l->bytes.n += n;
    }
}

enum { PGK_ULEB_BYTES = 10 }; /* at most */

/* Returns where the number ends. */
static inline uint8_t *pgk_put_uleb(uint8_t *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (uint8_t)(v | 0x80);
    *to++ = (uint8_t)v;
    return to;
}

static inline void pgk_line_uleb(struct pgk_line *l, uint64_t v)
{
    uint8_t *to = pgk_line_reserve(l, PGK_ULEB_BYTES);
    if (to)
        l->bytes.n += (size_t)(pgk_put_uleb(to, v) - to);
}

static inline void pgk_line_decimal(struct pgk_line *l, uint64_t v)
{
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    uint8_t *to = pgk_line_reserve(l, n);
    for (; to && n; n--)
        l->bytes.v[l->bytes.n++] = (uint8_t)digits[n - 1];
}

enum { PGK_LINE_FLUSH_BYTES = 1 << 16 };

/* Hands over what there is, if it is much. */
static inline void pgk_line_flush(struct pgk_line *l, struct pgk_sink *out, size_t at_least)
{
    if (l->bytes.n < at_least)
        return;
    pgk_sink_bytes(out, l->bytes.v, l->bytes.n);
    l->bytes.n = 0;
}

static inline void pgk_line_free(struct pgk_line *l)
{
    pgk_vec_free(&l->bytes);
}

#endif
