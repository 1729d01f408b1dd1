/* Which module has the function that the process calls by a name. */
#ifndef PGG_SYMBOLS_H
#define PGG_SYMBOLS_H

#include "guest.h"

#include <link.h>

#pragma GCC visibility push(hidden)

/* NULL: there is none. When the C library is set up; may take the dynamic linker's lock. */
const struct link_map *pgg_symbol_module(const char *name);
const struct link_map *pgg_own_module(void); /* that this code is in */
/* The function of that name in a module that was loaded after this code's. If there is none, the
 * program's dlerror() does not report it. */
void *pgg_symbol_behind(const char *name);

/* The function of that name that calls of this module's own reach behind it. It is looked up once,
 * and kept in *known. */
void *pgg_symbol_next(const char *name, void **known);

#pragma GCC visibility pop
#endif
