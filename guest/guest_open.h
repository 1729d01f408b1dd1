/* dlopen and dlmopen for the program, in place of the C library's: a library that is opened with
 * RTLD_DEEPBIND gets the C library's malloc and free, and would free our objects there. The flag is
 * left out.
 *
 * The C library looks at the return address of its caller: the RUNPATH of that module is searched.
 * So each of our functions calls the C library's as its last step, which compilers make a jump of
 * where they optimise, as they always do here; the return address is still the caller's. */
#ifndef PGG_OPEN_H
#define PGG_OPEN_H

#include "guest.h"

#pragma GCC visibility push(hidden)

/* From now on the flag is left out, which `say` reports once: two parts of a line. */
void pgg_open_watch(void (*say)(const char *a, const char *b));
/* What to open the file with. */
int pgg_open_mode(const char *file, int mode);

#pragma GCC visibility pop
#endif
