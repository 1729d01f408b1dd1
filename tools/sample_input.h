/* Reading a sample profile for people: with names, where binaries are given. */
#ifndef SAMPLE_INPUT_H
#define SAMPLE_INPUT_H

#include "cli.h"

/* Spells names that are known by GUID alone, if binaries are given. */
int sample_input_name(struct pgk_sample *profile, const struct cli_common *common,
                      struct pgk_err *err);

/* The profile, finished. Close it in any case. */
int sample_input_read(struct pgk_sample **profile, const char *path,
                      const struct cli_common *common, struct pgk_file_info *info,
                      struct pgk_err *err);

#endif
