/* Copying, filling, comparing and searching bytes. Short lengths, which are most, are done where
 * they are asked for: a call of the C library's would cost more than the work. 16 bytes at once at
 * most, and no load outside of the bytes or of a page that has one of them. */
#ifndef PGG_BYTES_H
#define PGG_BYTES_H

#include "guest.h"
#include "guest_processor.h"

#pragma GCC visibility push(hidden)

typedef u64 pgg_unaligned64 __attribute__((aligned(1), may_alias));
typedef u32 pgg_unaligned32 __attribute__((aligned(1), may_alias));
enum {
    PGG_BYTES16 = sizeof(pgg_v16),
    PGG_SHORT = 4 * PGG_BYTES16, /* what is done where it is asked for */
};

size_t pgg_strlen(const char *s);
bool pgg_streq(const char *a, const char *b);
void pgg_zero(void *p, size_t n);
void pgg_copy(void *to, const void *from, size_t n);
/* More than PGG_SHORT bytes; copied bytes do not overlap, moved ones may. */
void *pgg_copy_long(void *to, const void *from, size_t n);
void *pgg_move_long(void *to, const void *from, size_t n);
void *pgg_fill_long(void *to, int c, size_t n);

/* ---- words, by two ---- */

PGG_INLINE void pgg_words_clear(u64 *word, const u64 *end)
{
    for (; end - word >= 2; word += 2)
        pgg_store16(word, pgg_zero16());
    if (word < end)
        *word = 0;
}

/* A few one by one: they may have been counted in just now, and a load of two waits for such
 * stores. Adds to `used` how many of them are not 0. */
PGG_INLINE u64 pgg_words_sum(const u64 *word, const u64 *end, u64 *used)
{
    u64 sum = 0;
    if (end - word >= 8) {
        pgg_v16 sums = pgg_zero16(), zeros = pgg_zero16();
        *used += (u64)(end - word) & ~UINT64_C(1);
        for (; end - word >= 2; word += 2) {
            const pgg_v16 both = pgg_load16(word);
            sums = pgg_add_words(sums, both);
            zeros = pgg_add_words(zeros, pgg_zero_words(both)); /* -1 for each */
        }
        sum = pgg_sum_words(sums);
        *used += pgg_sum_words(zeros);
    }
    for (; word < end; word++) {
        sum += *word;
        *used += *word != 0;
    }
    return sum;
}

PGG_INLINE void pgg_words_add(u64 *word, const u64 *end, u64 each)
{
    const pgg_v16 both = pgg_both_words(each);
    for (; end - word >= 2; word += 2)
        pgg_store16(word, pgg_add_words(pgg_load16(word), both));
    if (word < end)
        *word += each;
}

/* ---- bytes ---- */

/* At most PGG_SHORT bytes, which may overlap: all are loaded before one is stored. */
PGG_INLINE void pgg_move_short(char *to, const char *from, size_t n)
{
    if (n > 2 * PGG_BYTES16) {
        pgg_v16 a = pgg_load16(from), b = pgg_load16(from + 16),
                c = pgg_load16(from + n - 32), d = pgg_load16(from + n - 16);
        pgg_store16(to, a);
        pgg_store16(to + 16, b);
        pgg_store16(to + n - 32, c);
        pgg_store16(to + n - 16, d);
    } else if (n >= PGG_BYTES16) {
        pgg_v16 a = pgg_load16(from), b = pgg_load16(from + n - 16);
        pgg_store16(to, a);
        pgg_store16(to + n - 16, b);
    } else if (n >= 8) {
        u64 a = *(const pgg_unaligned64 *)from, b = *(const pgg_unaligned64 *)(from + n - 8);
        *(pgg_unaligned64 *)to = a;
        *(pgg_unaligned64 *)(to + n - 8) = b;
    } else if (n >= 4) {
        u32 a = *(const pgg_unaligned32 *)from, b = *(const pgg_unaligned32 *)(from + n - 4);
        *(pgg_unaligned32 *)to = a;
        *(pgg_unaligned32 *)(to + n - 4) = b;
    } else if (n) {
        char a = from[0], b = from[n / 2], c = from[n - 1];
        to[0] = a;
        to[n / 2] = b;
        to[n - 1] = c;
    }
}

PGG_INLINE void *pgg_copy_fast(void *to, const void *from, size_t n)
{
    if (PGG_UNLIKELY(n > PGG_SHORT))
        return pgg_copy_long(to, from, n);
    pgg_move_short(to, from, n);
    return to;
}

PGG_INLINE void *pgg_move_fast(void *to, const void *from, size_t n)
{
    if (PGG_UNLIKELY(n > PGG_SHORT))
        return pgg_move_long(to, from, n);
    pgg_move_short(to, from, n);
    return to;
}

PGG_INLINE void *pgg_fill_fast(void *to, int c, size_t n)
{
    char *p = to;
    const u64 word = (unsigned char)c * UINT64_C(0x0101010101010101);
    if (n >= PGG_BYTES16) {
        const pgg_v16 all = pgg_both_words(word);
        if (n > PGG_SHORT)
            return pgg_fill_long(to, c, n);
        pgg_store16(p, all);
        pgg_store16(p + n - 16, all);
        if (n > 2 * PGG_BYTES16) {
            pgg_store16(p + 16, all);
            pgg_store16(p + n - 32, all);
        }
    } else if (n >= 8) {
        *(pgg_unaligned64 *)p = word;
        *(pgg_unaligned64 *)(p + n - 8) = word;
    } else if (n >= 4) {
        *(pgg_unaligned32 *)p = (u32)word;
        *(pgg_unaligned32 *)(p + n - 4) = (u32)word;
    } else if (n) {
        p[0] = p[n / 2] = p[n - 1] = (char)c;
    }
    return to;
}

/* A bit for each byte of 16 that is not the same. */
PGG_INLINE u32 pgg_unlike16(const unsigned char *a, const unsigned char *b)
{
    return 0xffff ^ pgg_high_bits(pgg_same16(pgg_load16(a), pgg_load16(b)));
}

/* Below 0, 0, or above, by the first bytes that differ. */
PGG_INLINE int pgg_order(u64 a, u64 b)
{
    a = __builtin_bswap64(a);
    b = __builtin_bswap64(b);
    return (a > b) - (a < b);
}

/* The rest at the end is compared together with bytes before it that are known to be equal. */
PGG_INLINE int pgg_compare(const unsigned char *a, const unsigned char *b, size_t n)
{
    if (n >= PGG_BYTES16) {
        u32 unlike = 0;
        size_t i = 0;
        for (; i + PGG_BYTES16 <= n && !unlike; i += PGG_BYTES16)
            unlike = pgg_unlike16(a + i, b + i);
        if (!unlike && i < n) {
            i = n;
            unlike = pgg_unlike16(a + n - PGG_BYTES16, b + n - PGG_BYTES16);
        }
        i += (size_t)__builtin_ctz(unlike | 1 << PGG_BYTES16) - PGG_BYTES16;
        return unlike ? a[i] - b[i] : 0;
    }
    if (n >= 8) {
        const u64 x = *(const pgg_unaligned64 *)a, y = *(const pgg_unaligned64 *)b;
        return x != y ? pgg_order(x, y)
                      : pgg_order(*(const pgg_unaligned64 *)(a + n - 8),
                                   *(const pgg_unaligned64 *)(b + n - 8));
    }
    if (n >= 4)
        return pgg_order(*(const pgg_unaligned32 *)a |
                              (u64) * (const pgg_unaligned32 *)(a + n - 4) << 32,
                          *(const pgg_unaligned32 *)b |
                              (u64) * (const pgg_unaligned32 *)(b + n - 4) << 32);
    return n ? (a[0] << 16 | a[n / 2] << 8 | a[n - 1]) - (b[0] << 16 | b[n / 2] << 8 | b[n - 1])
             : 0;
}

/* Index of byte c in n bytes, or n. Aligned loads never leave a page that holds a byte of it. Some
 * ask for "until found" with a length past the end of the address space, so addresses are numbers
 * here: a compiler takes pointers to stay within an object. */
PGG_INLINE size_t pgg_find_byte(const unsigned char *s, unsigned char c, size_t n)
{
    const pgg_v16 wanted = pgg_all_bytes((char)c);
    const uintptr_t start = (uintptr_t)s, skip = start & (PGG_BYTES16 - 1);
    if (!n)
        return n;
    for (uintptr_t at = start - skip; at < start || at - start < n; at += PGG_BYTES16) {
        pgg_v16 x = pgg_load16_aligned(at);
        u32 hits = pgg_high_bits(pgg_same16(x, wanted));
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
PGG_INLINE size_t pgg_difference_string(const char *a, const char *b, size_t max)
{
    size_t i = 0;
    while (i < max) {
        const uintptr_t at = (uintptr_t)(a + i) % PGG_PAGE, bt = (uintptr_t)(b + i) % PGG_PAGE;
        size_t until = i + PGG_BYTES16;
        if (PGG_LIKELY((at > bt ? at : bt) <= PGG_PAGE - PGG_BYTES16)) {
            pgg_v16 x = pgg_load16(a + i), same = pgg_same16(x, pgg_load16(b + i));
            /* A byte of 0 where it ends, be it that they differ or that it is a 0. */
            pgg_v16 goes_on = pgg_min_bytes(x, same);
            u32 ends = pgg_high_bits(pgg_same16(goes_on, pgg_zero16()));
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

#pragma GCC visibility pop
#endif
