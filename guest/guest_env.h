/* The environment of the process. */
#ifndef PGG_ENV_H
#define PGG_ENV_H

#include "guest.h"

#pragma GCC visibility push(hidden)

/* Value of a variable, or NULL. Before the C library has its environment, that of the kernel, which
 * is kept in a buffer. */
const char *pgg_getenv(const char *name);

#pragma GCC visibility pop
#endif
