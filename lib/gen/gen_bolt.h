/* Recordings as input of llvm-bolt: traces, which are branches and the code that ran after them. */
#ifndef PGK_GEN_BOLT_H
#define PGK_GEN_BOLT_H

#include "gen_priv.h"

/* Counts the branches of a sample, or its instruction if it has none. */
int pgk_gen_count_traces(struct pgk_gen *gen, const struct pgk_perf_sample *sample);

#endif
