/* Which static data of a program is accessed: data access profiles. */
#ifndef PGK_GEN_DATA_H
#define PGK_GEN_DATA_H

#include "gen_priv.h"

/* Counts an access of the instruction at `ip` to `addr`. */
int pgk_gen_count_access(struct pgk_gen *gen, const struct pgk_perf_sample *sample, uint64_t ip,
                         uint64_t addr);

#endif
