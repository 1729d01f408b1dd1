/* Writing counters of gcc for a release of it. */
#ifndef PGK_OUTPUT_GCOV_H
#define PGK_OUTPUT_GCOV_H

#include "cli.h"

#define GCOV_TO_ROW(type, member)                                                   \
    {"to", 0, "gccX.Y",                                                              \
     "for another release of gcc than the one that built the program; a compiler "   \
     "takes files of exactly its own",                                               \
     OPTION_TEXT(type, member),                                                      \
     .page = "the release as `gcc -dumpfullversion` prints it: `gcc16.2`"}

/* Makes the profile one of the release, if `to` is not NULL, and warns of what is left out then;
 * `*exit_code` becomes EXIT_INCOMPLETE if that is the case. */
int gcov_output_release(struct pgk_gcov *gcov, const char *to, int *exit_code,
                        struct pgk_err *err);

#endif
