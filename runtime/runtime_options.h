/* Options, all from options.def, and the name of the profile. */
#ifndef PGRT_OPTIONS_H
#define PGRT_OPTIONS_H

#include "guest_options.h"
#include "pgrt.h"

#pragma GCC visibility push(hidden)

struct pgrt_options {
    u64 depth, raw_version, dump_at_exit, verbosity, realloc_zero_frees, help, enabled,
        frame_pointers, dump_signal, dump_every, dump_memory, paused, leak_check, cmdline;
    char out[PGG_OPTION_TEXT], log_path[PGG_OPTION_TEXT], socket[PGG_OPTION_TEXT];
};
extern struct pgrt_options pgrt_options;
void pgrt_options_read(void);
/* Path of this process's profile; false if it does not fit. `stream` gets 1 or 2 for standard
 * streams, else -1. */
bool pgrt_profile_path(char *buffer, size_t size, int *stream, bool *unique);

#pragma GCC visibility pop
#endif
