/* Reading a sample profile for people: with names, where binaries are given. */
#ifndef SAMPLE_INPUT_H
#define SAMPLE_INPUT_H

#include "cli.h"

/* Spells names that are known by GUID alone, by the file of --names, or NULL, and the binaries of
 * -b. */
int sample_spell(struct pgk_sample *profile, const char *names, const struct cli_common *common,
                 struct pgk_err *err);

/* The profile, finished; what its file is to *info, unless that is NULL. Close it in any case. */
int sample_input_read(struct pgk_sample **profile, const char *path,
                      const struct cli_common *common, const struct pgk_file_info **info,
                      struct pgk_err *err);

#endif
