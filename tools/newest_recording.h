/* The newest recording in a folder, for verbs that were given no file. */
#ifndef PGK_NEWEST_RECORDING_H
#define PGK_NEWEST_RECORDING_H

#include "cli.h"

/* Of the folder, "." or another: its path, to be freed; NULL if there is none. */
char *newest_recording(const char *folder);

#endif
