/* Functions of the program that are called at each allocation and free. */
#ifndef PGRT_HOOKS_H
#define PGRT_HOOKS_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

extern bool pgrt_hooked; /* there are some */
void pgrt_hooks_init(void);
void pgrt_hook_alloc(const volatile void *object, size_t n);
void pgrt_hook_free(const volatile void *object);

#pragma GCC visibility pop
#endif
