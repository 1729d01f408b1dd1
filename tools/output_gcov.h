/* Writing counters of gcc for a release of it. */
#ifndef PGK_OUTPUT_GCOV_H
#define PGK_OUTPUT_GCOV_H

#include "cli.h"

#define GCOV_TO_HELP                                                                            \
    "      --to gccX.Y          for another release of gcc than the one that built the program;\n" \
    "                           a compiler takes files of exactly its own\n"

/* Makes the profile one of the release, if `to` is not NULL, and warns of what is left out then;
 * `*exit_code` becomes EXIT_INCOMPLETE if that is the case. */
int gcov_output_release(struct pgk_gcov *gcov, const char *to, int *exit_code,
                        struct pgk_err *err);

#endif
