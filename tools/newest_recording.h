/* The newest recording in a folder, for verbs that were given no file. */
#ifndef PGK_NEWEST_RECORDING_H
#define PGK_NEWEST_RECORDING_H

#include "cli.h"

/* Of the folder, "." or another: its path, to be freed; NULL if there is none. Of several processes
 * that ran at the same time, which are `in_run`, the one that allocated most. */
char *newest_recording(const char *folder, size_t *in_run);

#endif
