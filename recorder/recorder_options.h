/* Options, all from recorder_options.def, and the name of the file. */
#ifndef PGBR_OPTIONS_H
#define PGBR_OPTIONS_H

#include "guest_options.h"
#include "pgbr.h"

#pragma GCC visibility push(hidden)

extern struct pgbr_options {
#define PGBR_NUMBER(name, initial, lowest, highest, meaning) u64 name;
#define PGBR_STRING(name, meaning) char name[PGG_OPTION_TEXT];
#include "recorder_options.def"
#undef PGBR_NUMBER
#undef PGBR_STRING
} pgbr_options;

void pgbr_options_default(void); /* of windows that count accesses */
void pgbr_options_read(void);
/* *unique: a name that is taken is not taken again. False: too long. */
bool pgbr_recording_path(char *buffer, size_t size, bool *unique);

#pragma GCC visibility pop
#endif
