/* Sets of 64-bit numbers as sorted arrays. */
#include "u64_set.h"

#include <stdbool.h>
#include <stdlib.h>

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

size_t pgk_u64_set(uint64_t *v, size_t n)
{
    size_t kept = 0;
    if (!is_sorted(v, n))
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
