/* A sorted array in Eytzinger order: that of a binary search tree, level by level. The children of
 * item k are 2k + 1 and 2k + 2. A search touches the same few first items every time, so that they
 * stay in the cache. */
#ifndef PGK_EYTZINGER_H
#define PGK_EYTZINGER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The place of the least of `n` items below item `k`; `n` if k is not one. */
static inline size_t pgk_eytzinger_least(size_t k, size_t n)
{
    while (2 * k + 1 < n)
        k = 2 * k + 1;
    return k < n ? k : n;
}

/* The place of the item that follows item `k` in rising order; `n` after the last. */
static inline size_t pgk_eytzinger_next(size_t k, size_t n)
{
    if (2 * k + 2 < n)
        return pgk_eytzinger_least(2 * k + 2, n);
    while (k && k % 2 == 0)
        k = (k - 1) / 2;
    return k ? (k - 1) / 2 : n;
}

/* The place of a number among `n` of 64 bits, which need not be aligned; `n` if it is not there. */
static inline size_t pgk_eytzinger_find(const uint8_t *items, size_t n, uint64_t wanted)
{
    for (size_t k = 0; k < n;) {
        uint64_t at;
        memcpy(&at, items + k * sizeof at, sizeof at);
        if (at == wanted)
            return k;
        k = 2 * k + 1 + (at < wanted);
    }
    return n;
}

#endif
