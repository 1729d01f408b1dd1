/* Copying, filling, comparing and searching bytes. Short lengths, which are most, are done where
 * they are asked for: a call of the C library's would cost more than the work. Only SSE2, which
 * every x86-64 has, and no load outside of the bytes or of a page that has one of them. */
#ifndef PGRT_BYTES_H
#define PGRT_BYTES_H

#include "pgrt.h"

#include <emmintrin.h>

typedef u64 pgrt_unaligned64 __attribute__((aligned(1), may_alias));
typedef u32 pgrt_unaligned32 __attribute__((aligned(1), may_alias));
enum { PGRT_BYTES16 = sizeof(__m128i) };
_Static_assert(PGRT_SHORT == 4 * PGRT_BYTES16, "short ranges take four registers");

PGRT_INLINE __m128i pgrt_load16(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

PGRT_INLINE void pgrt_store16(void *p, __m128i v)
{
    _mm_storeu_si128((__m128i *)p, v);
}

/* ---- words of the shadow, by two ---- */

PGRT_INLINE void pgrt_words_clear(u64 *word, const u64 *end)
{
    for (; end - word >= 2; word += 2)
        pgrt_store16(word, _mm_setzero_si128());
    if (word < end)
        *word = 0;
}

/* A few one by one: they may have been counted in just now, and a load of two waits for such
 * stores. */
PGRT_INLINE u64 pgrt_words_sum(const u64 *word, const u64 *end)
{
    u64 sum = 0;
    if (end - word >= 8) {
        __m128i twos = _mm_setzero_si128();
        for (; end - word >= 2; word += 2)
            twos = _mm_add_epi64(twos, pgrt_load16(word));
        sum = (u64)_mm_cvtsi128_si64(_mm_add_epi64(twos, _mm_unpackhi_epi64(twos, twos)));
    }
    while (word < end)
        sum += *word++;
    return sum;
}

PGRT_INLINE void pgrt_words_add(u64 *word, const u64 *end, u64 each)
{
    const __m128i twos = _mm_set1_epi64x((long long)each);
    for (; end - word >= 2; word += 2)
        pgrt_store16(word, _mm_add_epi64(pgrt_load16(word), twos));
    if (word < end)
        *word += each;
}

/* ---- bytes ---- */

/* At most PGRT_SHORT bytes, which may overlap: all are loaded before one is stored. */
PGRT_INLINE void pgrt_move_short(char *to, const char *from, size_t n)
{
    if (n > 2 * PGRT_BYTES16) {
        __m128i a = pgrt_load16(from), b = pgrt_load16(from + 16),
                c = pgrt_load16(from + n - 32), d = pgrt_load16(from + n - 16);
        pgrt_store16(to, a);
        pgrt_store16(to + 16, b);
        pgrt_store16(to + n - 32, c);
        pgrt_store16(to + n - 16, d);
    } else if (n >= PGRT_BYTES16) {
        __m128i a = pgrt_load16(from), b = pgrt_load16(from + n - 16);
        pgrt_store16(to, a);
        pgrt_store16(to + n - 16, b);
    } else if (n >= 8) {
        u64 a = *(const pgrt_unaligned64 *)from, b = *(const pgrt_unaligned64 *)(from + n - 8);
        *(pgrt_unaligned64 *)to = a;
        *(pgrt_unaligned64 *)(to + n - 8) = b;
    } else if (n >= 4) {
        u32 a = *(const pgrt_unaligned32 *)from, b = *(const pgrt_unaligned32 *)(from + n - 4);
        *(pgrt_unaligned32 *)to = a;
        *(pgrt_unaligned32 *)(to + n - 4) = b;
    } else if (n) {
        char a = from[0], b = from[n / 2], c = from[n - 1];
        to[0] = a;
        to[n / 2] = b;
        to[n - 1] = c;
    }
}

PGRT_INLINE void *pgrt_copy_fast(void *to, const void *from, size_t n)
{
    if (PGRT_UNLIKELY(n > PGRT_SHORT))
        return pgrt_copy_long(to, from, n);
    pgrt_move_short(to, from, n);
    return to;
}

PGRT_INLINE void *pgrt_move_fast(void *to, const void *from, size_t n)
{
    if (PGRT_UNLIKELY(n > PGRT_SHORT))
        return pgrt_move_long(to, from, n);
    pgrt_move_short(to, from, n);
    return to;
}

/* With the counts of both sides. A function that leaves all else to another one in its last step
 * needs no register saved. */
PGRT_INLINE void *pgrt_counted_copy(void *to, const void *from, size_t n)
{
    if (PGRT_UNLIKELY(!pgrt_is_short(n)))
        return pgrt_counted_copy_long(to, from, n);
    pgrt_count_short(from, n);
    pgrt_count_short(to, n);
    pgrt_move_short(to, from, n);
    return to;
}

PGRT_INLINE void *pgrt_counted_move(void *to, const void *from, size_t n)
{
    if (PGRT_UNLIKELY(!pgrt_is_short(n)))
        return pgrt_counted_move_long(to, from, n);
    pgrt_count_short(from, n);
    pgrt_count_short(to, n);
    pgrt_move_short(to, from, n);
    return to;
}

PGRT_INLINE void *pgrt_fill_fast(void *to, int c, size_t n)
{
    char *p = to;
    const u64 word = (unsigned char)c * UINT64_C(0x0101010101010101);
    if (n >= PGRT_BYTES16) {
        const __m128i all = _mm_set1_epi64x((long long)word);
        if (n > PGRT_SHORT)
            return pgrt_fill_long(to, c, n);
        pgrt_store16(p, all);
        pgrt_store16(p + n - 16, all);
        if (n > 2 * PGRT_BYTES16) {
            pgrt_store16(p + 16, all);
            pgrt_store16(p + n - 32, all);
        }
    } else if (n >= 8) {
        *(pgrt_unaligned64 *)p = word;
        *(pgrt_unaligned64 *)(p + n - 8) = word;
    } else if (n >= 4) {
        *(pgrt_unaligned32 *)p = (u32)word;
        *(pgrt_unaligned32 *)(p + n - 4) = (u32)word;
    } else if (n) {
        p[0] = p[n / 2] = p[n - 1] = (char)c;
    }
    return to;
}

/* A bit for each byte of 16 that is not the same. */
PGRT_INLINE u32 pgrt_unlike16(const unsigned char *a, const unsigned char *b)
{
    return 0xffff ^ (u32)_mm_movemask_epi8(_mm_cmpeq_epi8(pgrt_load16(a), pgrt_load16(b)));
}

/* Below 0, 0, or above, by the first bytes that differ. */
PGRT_INLINE int pgrt_order(u64 a, u64 b)
{
    a = __builtin_bswap64(a);
    b = __builtin_bswap64(b);
    return (a > b) - (a < b);
}

/* What is left over at the end is compared together with bytes in front of it that are known to be
 * the same. */
PGRT_INLINE int pgrt_compare(const unsigned char *a, const unsigned char *b, size_t n)
{
    if (n >= PGRT_BYTES16) {
        u32 unlike = 0;
        size_t i = 0;
        for (; i + PGRT_BYTES16 <= n && !unlike; i += PGRT_BYTES16)
            unlike = pgrt_unlike16(a + i, b + i);
        if (!unlike && i < n) {
            i = n;
            unlike = pgrt_unlike16(a + n - PGRT_BYTES16, b + n - PGRT_BYTES16);
        }
        i += (size_t)__builtin_ctz(unlike | 1 << PGRT_BYTES16) - PGRT_BYTES16;
        return unlike ? a[i] - b[i] : 0;
    }
    if (n >= 8) {
        const u64 x = *(const pgrt_unaligned64 *)a, y = *(const pgrt_unaligned64 *)b;
        return x != y ? pgrt_order(x, y)
                      : pgrt_order(*(const pgrt_unaligned64 *)(a + n - 8),
                                   *(const pgrt_unaligned64 *)(b + n - 8));
    }
    if (n >= 4)
        return pgrt_order(*(const pgrt_unaligned32 *)a |
                              (u64) * (const pgrt_unaligned32 *)(a + n - 4) << 32,
                          *(const pgrt_unaligned32 *)b |
                              (u64) * (const pgrt_unaligned32 *)(b + n - 4) << 32);
    return n ? (a[0] << 16 | a[n / 2] << 8 | a[n - 1]) - (b[0] << 16 | b[n / 2] << 8 | b[n - 1])
             : 0;
}

/* Index of byte c in n bytes, or n. Aligned loads never leave a page that holds a byte of it. Some
 * ask for "until found" with a length past the end of the address space, so addresses are numbers
 * here: a compiler takes pointers to stay within an object. */
PGRT_INLINE size_t pgrt_find_byte(const unsigned char *s, unsigned char c, size_t n)
{
    const __m128i wanted = _mm_set1_epi8((char)c);
    const uintptr_t start = (uintptr_t)s, skip = start & (PGRT_BYTES16 - 1);
    if (!n)
        return n;
    for (uintptr_t at = start - skip; at < start || at - start < n; at += PGRT_BYTES16) {
        __m128i x = _mm_load_si128((const __m128i *)at);
        u32 hits = (u32)_mm_movemask_epi8(_mm_cmpeq_epi8(x, wanted));
        if (at < start)
            hits &= ~UINT32_C(0) << skip;
        if (hits) {
            size_t i = at + (uintptr_t)__builtin_ctz(hits) - start;
            return i < n ? i : n;
        }
    }
    return n;
}

/* Index of the first difference of two strings, of their end, or max. */
PGRT_INLINE size_t pgrt_difference_string(const char *a, const char *b, size_t max)
{
    size_t i = 0;
    while (i < max) {
        const uintptr_t at = (uintptr_t)(a + i) % PGRT_PAGE, bt = (uintptr_t)(b + i) % PGRT_PAGE;
        size_t until = i + PGRT_BYTES16;
        if (PGRT_LIKELY((at > bt ? at : bt) <= PGRT_PAGE - PGRT_BYTES16)) {
            __m128i x = pgrt_load16(a + i), same = _mm_cmpeq_epi8(x, pgrt_load16(b + i));
            /* A byte of 0 where it ends, be it that they differ or that it is a 0. */
            __m128i goes_on = _mm_min_epu8(x, same);
            u32 ends = (u32)_mm_movemask_epi8(_mm_cmpeq_epi8(goes_on, _mm_setzero_si128()));
            if (ends) {
                i += (size_t)__builtin_ctz(ends);
                return i < max ? i : max;
            }
            i = until;
            continue;
        }
        for (; i < until && i < max; i++)
            if (a[i] != b[i] || !a[i])
                return i;
    }
    return max;
}

#endif
