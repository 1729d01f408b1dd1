/* Counts add up and multiply to the greatest number at most, rather than beginning anew at 0. */
#ifndef PGK_SATURATE_H
#define PGK_SATURATE_H

#include <stdint.h>

static inline uint64_t pgk_add_saturated(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t pgk_multiply_saturated(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
