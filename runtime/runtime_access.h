/* Counting accesses. */
#ifndef PGRT_ACCESS_H
#define PGRT_ACCESS_H

#include "guest_bytes.h"
#include "runtime_shadow.h"

#pragma GCC visibility push(hidden)

void pgrt_count_range_slow(uintptr_t start, size_t n);
void *pgrt_counted_copy_long(void *to, const void *from, size_t n);
void *pgrt_counted_move_long(void *to, const void *from, size_t n);
extern bool pgrt_instrumented; /* some object of the process counts its accesses */

PGG_INLINE void pgrt_count(uintptr_t address)
{
    if (PGG_UNLIKELY(pgrt_histogram)) {
        uint8_t *c = (uint8_t *)(__memprof_shadow_memory_dynamic_address + (address >> 3));
        if (*c < 255)
            ++*c;
    } else {
        ++*pgrt_shadow(address);
    }
}

PGG_INLINE u64 *pgrt_word(uintptr_t address)
{
    return (u64 *)(pgrt_words + address / PGRT_GRANULE * sizeof(u64));
}

/* Most ranges are short: 1 to PGG_SHORT bytes, with counts in at most two granules. Ranges of no
 * bytes have none, and may be anywhere. */
_Static_assert((int)PGG_SHORT <= (int)PGRT_GRANULE, "a short range lies in two granules");
PGG_INLINE bool pgrt_is_short(size_t n)
{
    return pgrt_words && n - 1 < PGG_SHORT;
}

PGG_INLINE void pgrt_count_short(const void *start, size_t n)
{
    u64 *word = pgrt_word((uintptr_t)start);
    const size_t here = (PGRT_GRANULE + 7 - (uintptr_t)start % PGRT_GRANULE) / 8;
    const size_t counts = (n + 7) / 8;
    if (PGG_LIKELY(counts <= here)) {
        *word += counts;
    } else {
        word[0] += here;
        word[1] += counts - here;
    }
}

/* Reads or writes of n bytes by a library function: one count per 8 bytes. */
PGG_INLINE void pgrt_count_range(const void *start, size_t n)
{
    if (PGG_LIKELY(pgrt_is_short(n)))
        pgrt_count_short(start, n);
    else if (n)
        pgrt_count_range_slow((uintptr_t)start, n);
}

/* With the counts of both sides. A function that leaves all else to another one in its last step
 * needs no register saved. */
PGG_INLINE void *pgrt_counted_copy(void *to, const void *from, size_t n)
{
    if (PGG_UNLIKELY(!pgrt_is_short(n)))
        return pgrt_counted_copy_long(to, from, n);
    pgrt_count_short(from, n);
    pgrt_count_short(to, n);
    pgg_move_short(to, from, n);
    return to;
}

PGG_INLINE void *pgrt_counted_move(void *to, const void *from, size_t n)
{
    if (PGG_UNLIKELY(!pgrt_is_short(n)))
        return pgrt_counted_move_long(to, from, n);
    pgrt_count_short(from, n);
    pgrt_count_short(to, n);
    pgg_move_short(to, from, n);
    return to;
}

#pragma GCC visibility pop
#endif
