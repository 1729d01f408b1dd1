/* Bytes under construction, flushed to a sink in large pieces. */
#ifndef PGK_LINE_BUFFER_H
#define PGK_LINE_BUFFER_H

#include "sink.h"
#include "vec.h"

struct pgk_line {
    PGK_VEC(uint8_t) v;
    bool failed; /* out of memory */
};

static inline uint8_t *pgk_line_room(struct pgk_line *l, size_t n)
{
    if (PGK_UNLIKELY(!pgk_vec_reserve(&l->v, n))) {
        l->failed = true;
        return NULL;
    }
    return l->v.v + l->v.n;
}

static inline void pgk_line_byte(struct pgk_line *l, char c)
{
    uint8_t *to = pgk_line_room(l, 1);
    if (to) {
        *to = (uint8_t)c;
        l->v.n++;
    }
}

static inline void pgk_line_bytes(struct pgk_line *l, const void *bytes, size_t n)
{
    uint8_t *to = pgk_line_room(l, n);
    if (to && n) {
        memcpy(to, bytes, n);
        l->v.n += n;
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
    uint8_t *to = pgk_line_room(l, PGK_ULEB_BYTES);
    if (to)
        l->v.n += (size_t)(pgk_put_uleb(to, v) - to);
}

static inline void pgk_line_decimal(struct pgk_line *l, uint64_t v)
{
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    uint8_t *to = pgk_line_room(l, n);
    for (; to && n; n--)
        l->v.v[l->v.n++] = (uint8_t)digits[n - 1];
}

enum { PGK_LINE_FLUSH_BYTES = 1 << 16 };

/* Hands over what there is, if it is much. */
static inline void pgk_line_flush(struct pgk_line *l, struct pgk_sink *out, size_t at_least)
{
    if (l->v.n < at_least)
        return;
    pgk_sink_bytes(out, l->v.v, l->v.n);
    l->v.n = 0;
}

static inline void pgk_line_free(struct pgk_line *l)
{
    pgk_vec_free(&l->v);
}

#endif
