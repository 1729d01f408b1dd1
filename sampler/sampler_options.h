/* Options, all from sampler_options.def, and the name of the profile. */
#ifndef PGSM_OPTIONS_H
#define PGSM_OPTIONS_H

#include "guest_options.h"
#include "pgsm.h"

#pragma GCC visibility push(hidden)

struct pgsm_options {
#define PGSM_NUMBER(name, initial, lowest, highest, meaning) u64 name;
#define PGSM_STRING(name, meaning)                           char name[PGG_OPTION_TEXT];
#include "sampler_options.def"
#undef PGSM_NUMBER
#undef PGSM_STRING
};
extern struct pgsm_options pgsm_options;
void pgsm_options_read(void);
/* Path of the profile of the process with this number; false if it does not fit. If it is `unique`,
 * no other process has it. */
bool pgsm_profile_path(char *buffer, size_t size, int process, bool *unique);

#pragma GCC visibility pop
#endif
