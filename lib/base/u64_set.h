/* Sets of 64-bit numbers as sorted arrays. */
#ifndef PGK_U64_SET_H
#define PGK_U64_SET_H

#include <stddef.h>
#include <stdint.h>

/* Sorts and drops repeated numbers; returns how many are left. */
size_t pgk_u64_set(uint64_t *v, size_t n);
/* Position of a number of the set; `n` if it is not in it. */
size_t pgk_u64_find(const uint64_t *v, size_t n, uint64_t number);

#endif
