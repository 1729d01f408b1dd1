/* operator new of the program's own allocator. */
#ifndef PGSM_NEW_H
#define PGSM_NEW_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

/* `which` is an enum pgsm_operator. */
void *pgsm_new_next(size_t n, u32 which);
void *pgsm_new_aligned_next(size_t n, size_t align, u32 which);

#pragma GCC visibility pop
#endif
