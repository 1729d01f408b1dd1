/* Types of objects that code compares itself, as compilers promote virtual calls. */
#ifndef PGK_GEN_TYPES_H
#define PGK_GEN_TYPES_H

#include "gen_priv.h"

/* Finds the comparisons in code of a binary that was sampled; to be called before counts are
 * inferred. */
int pgk_gen_find_type_tests(struct pgk_gen *gen, struct pgk_gen_binary *binary,
                            struct pgk_err *err);
/* Counts of types from those of the branches of comparisons, when counters are settled. Counts of
 * loads are brought to their scale if they are not of it. */
int pgk_gen_recover_types(struct pgk_gen *gen, struct pgk_gen_binary *binary, bool by_probes,
                          struct pgk_err *err);

/* Multiplies counts of loads from vtables. */
void pgk_gen_scale_loads(struct pgk_gen *gen, struct pgk_gen_binary *binary, double scale);
/* The number of branches that a sampled load stands for, by sampling periods; 0: these are
 * unknown. */
double pgk_gen_load_scale(const struct pgk_gen *gen);

#endif
