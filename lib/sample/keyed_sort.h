/* Stable sorting by 64-bit keys in linear time. */
#ifndef PGK_KEYED_SORT_H
#define PGK_KEYED_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pgk_keyed {
    uint64_t key;
    uint32_t value;
};

/* By rising key; equal keys stay in their order. False when out of memory. */
bool pgk_keyed_sort(struct pgk_keyed *v, size_t n);

#endif
