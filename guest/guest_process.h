/* What a recording says of its process. */
#ifndef PGG_PROCESS_H
#define PGG_PROCESS_H

#include "guest.h"

#pragma GCC visibility push(hidden)

enum { PGG_PROCESS_BYTES = 1024 };
/* Path of the program, name of the host, and if they are wanted the arguments of the command line:
 * each with a zero byte after it. What does not fit is cut and ends in "...". Returns the bytes,
 * at most PGG_PROCESS_BYTES. Found out once; a process that may make no system calls has none. */
u32 pgg_process_text(const char **text, bool arguments);
u64 pgg_process_clock_ms(void); /* since 1970 */

#pragma GCC visibility pop
#endif
