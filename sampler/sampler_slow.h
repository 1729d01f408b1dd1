/* What is left to do where the count is down, or an object is of the range. These have the frame
 * and the caller of the function that was called, which jumps to them as its last step. */
#ifndef PGSM_SLOW_H
#define PGSM_SLOW_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

void *pgsm_slow_malloc(size_t n);
void *pgsm_slow_calloc(size_t n, size_t size);
void *pgsm_slow_realloc(void *p, size_t n);        /* p is not of the range */
void *pgsm_slow_realloc_inside(void *p, size_t n); /* and here it is */
void *pgsm_slow_memalign(size_t align, size_t n);
void *pgsm_slow_aligned_alloc(size_t align, size_t n);
int pgsm_slow_posix_memalign(void **out, size_t align, size_t n);
void *pgsm_slow_valloc(size_t n);
void *pgsm_slow_pvalloc(size_t n);
void *pgsm_slow_new(size_t n, u32 which);
void *pgsm_slow_new_aligned(size_t n, size_t align, u32 which);

#pragma GCC visibility pop
#endif
