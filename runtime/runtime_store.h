/* The mapped file of the profile: where it is, and that it grows. */
#ifndef PGRT_STORE_H
#define PGRT_STORE_H

#include "guest.h"

#pragma GCC visibility push(hidden)

bool pgrt_store_open(void);   /* false: no profile can be kept; said why */
void pgrt_store_forked(void); /* forget the parent's */
bool pgrt_store_is_open(void);
bool pgrt_store_is_file(void);
u64 pgrt_store_bytes(void); /* mapped, without finished dumps */
/* Reserves bytes for some thousands of contexts, because the file will not grow any more. */
void pgrt_store_grow_ahead(void);
const char *pgrt_store_path(void); /* Of the file; empty while there is none. */

#pragma GCC visibility pop
#endif
