/* Temporary files that have a name, so that a signal handler can take them away: on a file
 * system with unnamed files there are none. */
#ifndef PGK_UNFINISHED_LIST_H
#define PGK_UNFINISHED_LIST_H

#include "pgokit/unfinished.h"

/* Notes a file in an open folder; the caller keeps the folder open and `name` in place until it
 * is removed. Call with signals held. More files than there are places for are not noted. */
void pgk_unfinished_add(int dir_fd, const char *name);
void pgk_unfinished_remove(int dir_fd, const char *name);

#endif
