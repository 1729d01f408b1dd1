/* Names of releases of gcc, as --to takes them: "gcc16" and "gcc16.2". */
#ifndef PGK_GCC_RELEASE_H
#define PGK_GCC_RELEASE_H

#include <stdbool.h>

enum { PGK_GCC_ANY_MINOR = -1 };

/* False, with nothing set, if the text is not of this form. */
bool pgk_gcc_release(const char *text, unsigned *major, int *minor);

#endif
