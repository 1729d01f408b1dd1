/* Whether the process that a raw heap profile is of still writes it. */
#ifndef PGK_HEAP_RUNNING_H
#define PGK_HEAP_RUNNING_H

#include <stdbool.h>

/* A process of `program` on this machine has the file mapped. False if that cannot be known, as of
 * processes of other users. */
bool pgk_heap_is_running(const char *program, const char *file);

#endif
