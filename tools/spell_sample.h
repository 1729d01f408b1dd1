/* Spelling what a sample profile has GUIDs for: options that the verbs share. */
#ifndef SPELL_SAMPLE_H
#define SPELL_SAMPLE_H

#include "cli.h"

/* By the file of --names, or NULL, and the binaries of -b. */
int sample_spell(struct pgk_sample *profile, const char *names, const struct cli_common *common,
                 struct pgk_err *err);

#endif
