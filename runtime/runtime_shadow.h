/* The shadow: one 64-bit counter for each 64 bytes of memory, or in histogram mode one byte for
 * each 8. The words of dead memory hold anything; those of an object are zeroed when it is made. */
#ifndef PGRT_SHADOW_H
#define PGRT_SHADOW_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

extern __attribute__((visibility("default"))) uintptr_t __memprof_shadow_memory_dynamic_address;
extern bool pgrt_histogram;  /* byte counters */
extern uintptr_t pgrt_words; /* the shadow, if it has words; 0 also before it is there */
/* Marks of the word of the granule where a live object's header is, or the first one of a small
 * object. Counting never reaches them: instrumented code increments the low bits of the word, or
 * bytes 2 and up. */
#define PGRT_MARK_SMALL UINT64_C(0x4000000000000000) /* runtime_object.h */
#define PGRT_MARK_NEAR UINT64_C(0x8000000000000000) /* header at the start of the granule */
#define PGRT_MARK_FAR UINT64_C(0xc000000000000000)  /* header at its end */
#define PGRT_MARK_BITS UINT64_C(0xc000000000000000)
#define PGRT_HIST_NEAR UINT64_C(0xff)
#define PGRT_HIST_FAR UINT64_C(0xfe)
/* For all addresses that a program can have. */
extern u64 pgrt_shadow_bytes;
bool pgrt_shadow_init(void);
/* The counters alone, if the address space can hold all of them. Calls nothing of the C library,
 * which may not have been started yet. */
void pgrt_shadow_reserve(void);
extern bool pgrt_space_is_limited; /* address space, so that less of it is reserved */
/* runtime_demand.c: where counters are mapped as they are written; 0 if they cannot be. */
uintptr_t pgrt_demand_begin(void);
void pgrt_shadow_reset_large(u64 *first, u64 *end);
/* Sum of the words after a mark, of which pages that were never touched are not read; adds to
 * `used` how many of them are not 0. */
u64 pgrt_shadow_sum_large(const u64 *mark, const u64 *end, u64 *used);
/* Sum of the byte counters of an object; adds to `used` how many of them are not 0. */
u64 pgrt_shadow_sum_bytes(uintptr_t start, size_t n, u64 *used);

PGG_INLINE u64 *pgrt_shadow(uintptr_t address)
{
    return (u64 *)(__memprof_shadow_memory_dynamic_address +
                   ((address & ~(uintptr_t)(PGRT_GRANULE - 1)) >> 3));
}

#pragma GCC visibility pop
#endif
