/* Dumps: everything freed since the last one and every object alive now. */
#ifndef PGRT_DUMP_H
#define PGRT_DUMP_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

/* 0, or a negative error number, which is also said on standard error. */
int pgrt_dump(bool last);
void pgrt_reset(void);   /* finished dumps keep the file of now, later ones come into another */
void pgrt_discard(void); /* the process ends, and what no dump has is not wanted */
/* Around exec: the profile is complete as it is, or goes on. */
void pgrt_exec_begins(void);
void pgrt_exec_failed(void);

#pragma GCC visibility pop
#endif
