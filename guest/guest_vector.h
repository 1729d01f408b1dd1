/* 16 bytes at once, by what gcc and clang make of vectors on every processor. What they have no
 * operator for is in the processor's header: pgg_min_bytes and pgg_high_bits. */
#ifndef PGG_VECTOR_H
#define PGG_VECTOR_H

#include "guest.h"

typedef uint8_t pgg_v16 __attribute__((vector_size(16), may_alias));
typedef u64 pgg_v16_words __attribute__((vector_size(16), may_alias));

PGG_INLINE pgg_v16 pgg_load16(const void *p)
{
    pgg_v16 v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

PGG_INLINE pgg_v16 pgg_load16_aligned(uintptr_t at)
{
    return *(const pgg_v16 *)at;
}

PGG_INLINE void pgg_store16(void *p, pgg_v16 v)
{
    __builtin_memcpy(p, &v, sizeof v);
}

PGG_INLINE pgg_v16 pgg_zero16(void)
{
    return (pgg_v16){0};
}

PGG_INLINE pgg_v16 pgg_all_bytes(char c)
{
    const uint8_t b = (uint8_t)c;
    return (pgg_v16){b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b};
}

PGG_INLINE pgg_v16 pgg_both_words(u64 word)
{
    return (pgg_v16)(pgg_v16_words){word, word};
}

PGG_INLINE pgg_v16 pgg_add_words(pgg_v16 a, pgg_v16 b)
{
    return (pgg_v16)((pgg_v16_words)a + (pgg_v16_words)b);
}

PGG_INLINE u64 pgg_sum_words(pgg_v16 v)
{
    const pgg_v16_words words = (pgg_v16_words)v;
    return (words + __builtin_shufflevector(words, words, 1, 0))[0];
}

/* All bits set in each word that is 0. */
PGG_INLINE pgg_v16 pgg_zero_words(pgg_v16 v)
{
    return (pgg_v16)((pgg_v16_words)v == 0);
}

PGG_INLINE bool pgg_any16(pgg_v16 v)
{
    return ((pgg_v16_words)v)[0] | ((pgg_v16_words)v)[1];
}

PGG_INLINE pgg_v16 pgg_or16(pgg_v16 a, pgg_v16 b)
{
    return a | b;
}

PGG_INLINE pgg_v16 pgg_xor16(pgg_v16 a, pgg_v16 b)
{
    return a ^ b;
}

/* All bits set in each byte that is the same in both. */
PGG_INLINE pgg_v16 pgg_same16(pgg_v16 a, pgg_v16 b)
{
    return (pgg_v16)(a == b);
}

#endif
