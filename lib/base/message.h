/* Emitting log messages; receiving them is the public log.h's. */
#ifndef PGK_MESSAGE_H
#define PGK_MESSAGE_H

#include "compiler.h"
#include "pgokit/log.h"

void pgk_warn(const char *fmt, ...) PGK_PRINTF(1, 2);
void pgk_note(const char *fmt, ...) PGK_PRINTF(1, 2);
void pgk_debug(const char *fmt, ...) PGK_PRINTF(1, 2);

#endif
