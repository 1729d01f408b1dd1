/* The error for a profile that would be empty. */
#ifndef PGK_GEN_EMPTY_H
#define PGK_GEN_EMPTY_H

#include "gen_priv.h"

/* PGK_E_EMPTY: no sample is of any use. */
int pgk_gen_no_samples(const struct pgk_gen *gen, struct pgk_err *err);
/* Code of the binaries was counted, but no function got a count: PGK_E_NODEBUG if no function is
 * known there, else PGK_E_EMPTY. */
int pgk_gen_no_functions(const struct pgk_gen *gen, bool by_probes, struct pgk_err *err);

#endif
