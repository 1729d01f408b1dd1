/* Numbers below a bound as bits, with the count of those that lie below any one. */
#ifndef PGK_BIT_SET_H
#define PGK_BIT_SET_H

#include "mem.h"

#include <stdbool.h>

struct pgk_bit_set {
    uint64_t *bits;
    uint32_t *below; /* by word of bits: how many lie in the words before */
    size_t words;
};

/* A zeroed struct becomes an empty set of numbers up to `bound`; false when out of memory. */
static inline bool pgk_bit_set_init(struct pgk_bit_set *s, size_t bound)
{
    s->words = bound / 64 + 1;
    s->bits = pgk_mem_zalloc(s->words, sizeof *s->bits);
    s->below = pgk_mem_alloc(s->words, sizeof *s->below);
    return s->bits && s->below;
}

static inline void pgk_bit_set_free(struct pgk_bit_set *s)
{
    pgk_mem_free(s->bits);
    pgk_mem_free(s->below);
    *s = (struct pgk_bit_set){0};
}

/* Threads may add at a time where their numbers are in different words. */
static inline void pgk_bit_set_add(struct pgk_bit_set *s, uint32_t number)
{
    s->bits[number / 64] |= UINT64_C(1) << number % 64;
}

static inline bool pgk_bit_set_has(const struct pgk_bit_set *s, uint32_t number)
{
    return s->bits[number / 64] >> number % 64 & 1;
}

/* To be called after the last addition; returns how many there are. */
static inline uint32_t pgk_bit_set_count(struct pgk_bit_set *s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s->words; i++) {
        s->below[i] = n;
        n += (uint32_t)__builtin_popcountll(s->bits[i]);
    }
    return n;
}

/* How many are below `number`, which may be the bound. */
static inline uint32_t pgk_bit_set_below(const struct pgk_bit_set *s, uint32_t number)
{
    uint64_t before = s->bits[number / 64] & ((UINT64_C(1) << number % 64) - 1);
    return s->below[number / 64] + (uint32_t)__builtin_popcountll(before);
}

#endif
