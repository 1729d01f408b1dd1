/* Stable sorting by 64-bit keys: from the least byte up, leaving out bytes that all have. */
#include "keyed_sort.h"

#include "mem.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

static void distribute(const struct pgk_keyed *from, struct pgk_keyed *to, size_t n, int shift)
{
    size_t start[DIGITS] = {0}, at = 0;
    for (size_t i = 0; i < n; i++)
        start[from[i].key >> shift & (DIGITS - 1)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t count = start[d];
        start[d] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* Bits in which keys differ; 0 if they are in order already. */
static uint64_t bits_to_sort(const struct pgk_keyed *v, size_t n)
{
    uint64_t differing = 0;
    bool ordered = true;
    for (size_t i = 1; i < n; i++) {
        differing |= v[i].key ^ v[0].key;
        ordered &= v[i - 1].key <= v[i].key;
    }
    return ordered ? 0 : differing;
}

bool pgk_keyed_sort(struct pgk_keyed *v, size_t n)
{
    uint64_t bits = bits_to_sort(v, n);
    if (!bits)
        return true;
    struct pgk_keyed *scratch = pgk_mem_alloc(n, sizeof *scratch), *from = v, *to = scratch;
    if (!scratch)
        return false;
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (!(bits >> shift & (DIGITS - 1)))
            continue;
        distribute(from, to, n, shift);
        struct pgk_keyed *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    pgk_mem_free(scratch);
    return true;
}
