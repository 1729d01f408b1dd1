/* The environment of the process. */
#ifndef PGG_ENV_H
#define PGG_ENV_H

#include "guest.h"

#pragma GCC visibility push(hidden)

/* Value of a variable, or NULL. Before the C library has its environment, that of the kernel, which
 * is kept in a buffer. */
const char *pgg_getenv(const char *name);

/* The process has rights that who started it does not have (setuid, setgid, capabilities of the
 * file). What the environment says is not to be trusted then. */
bool pgg_has_more_rights(void);
/* The same for options of our own: NULL in such a process. */
const char *pgg_secure_getenv(const char *name);

#pragma GCC visibility pop
#endif
