/* The file of the profile: each writing replaces the one before, so that there is a whole one at
 * every moment. */
#ifndef PGSM_FILE_H
#define PGSM_FILE_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

struct pgsm_out;
/* What goes to the file; it is written once. */
void pgsm_put(struct pgsm_out *to, const void *bytes, size_t n);
/* 0, or a negative error number: the profile is as before. */
int pgsm_file_write(void (*write)(void *arg, struct pgsm_out *to), void *arg);
const char *pgsm_file_path(void);
void pgsm_file_forked(void); /* the child has a file of its own */

#pragma GCC visibility pop
#endif
