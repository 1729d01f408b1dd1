/* The rights that the process has given up: system calls, and the time stamp counter. */
#ifndef PGRT_CONFINE_H
#define PGRT_CONFINE_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

void pgrt_confine_init(void);
/* Sets pgg_confined for programs that make the system call themselves. Under a filter that does
 * not know this question, it kills them. */
void pgrt_confine_ask(void);

#pragma GCC visibility pop
#endif
