/* The calls of a build, by its pseudo probes: call probes are the places of calls, and numbers of
 * probes replace lines. Needs no debug information. */
#ifndef PGK_PROBE_BUILD_H
#define PGK_PROBE_BUILD_H

#include "build_index.h"

/* Reads the probes of all binaries of the set; nothing of one without probes. Free in any case. */
PGK_MUST_USE int pgk_build_read_probes(struct pgk_build *build, struct pgk_binaries *set,
                                       struct pgk_err *err);

#endif
