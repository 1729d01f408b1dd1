/* Sets of 64-bit numbers as sorted arrays. */
#include "u64_set.h"

#include "mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_sorted(const uint64_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i] < v[i - 1])
            return false;
    return true;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, MANY = 4096 };

/* Sorts by one digit at a time, from the lowest on; digits that all numbers share are passed over,
 * as are most of addresses. False without the memory for it. */
static bool sort_by_digits(uint64_t *v, size_t n)
{
    uint64_t *other = pgk_mem_alloc(n, sizeof *other), *from = v, *to = other, differ = 0;
    if (!other)
        return false;
    for (size_t i = 1; i < n; i++)
        differ |= v[i] ^ v[0];
    for (unsigned shift = 0; shift < 64 && differ >> shift; shift += DIGIT_BITS) {
        size_t start[DIGITS] = {0}, sum = 0;
        if (!(differ >> shift & (DIGITS - 1)))
            continue;
        for (size_t i = 0; i < n; i++)
            start[from[i] >> shift & (DIGITS - 1)]++;
        for (size_t d = 0; d < DIGITS; d++) {
            size_t count = start[d];
            start[d] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[start[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    pgk_mem_free(other);
    return true;
}

size_t pgk_u64_set(uint64_t *v, size_t n)
{
    size_t kept = 0;
    if (!is_sorted(v, n) && !(n >= MANY && sort_by_digits(v, n)))
        qsort(v, n, sizeof *v, compare);
    for (size_t i = 0; i < n; i++)
        if (!kept || v[kept - 1] != v[i])
            v[kept++] = v[i];
    return kept;
}

size_t pgk_u64_find(const uint64_t *v, size_t n, uint64_t number)
{
    const uint64_t *at = n ? bsearch(&number, v, n, sizeof *v, compare) : NULL;
    return at ? (size_t)(at - v) : n;
}
