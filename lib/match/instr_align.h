/* Matches functions with counters with those of an instrumented build. */
#ifndef PGK_INSTR_ALIGN_H
#define PGK_INSTR_ALIGN_H

#include "function_hashes.h"
#include "instr_model.h"

struct pgk_instr_align {
    const struct pgk_instr *profile;
    struct pgk_hashes hashes;     /* of the build */
    struct pgk_instr_names names; /* of its functions, as far as they are known */
    struct pgk_arena arena;
    struct pgk_index build_by_hash;   /* positions in `hashes` */
    struct pgk_index profile_by_hash; /* functions of the profile */
    struct pgk_index profile_by_ref;
};

/* Reads the build; PGK_E_EMPTY if no binary is instrumented. Free in any case. */
PGK_MUST_USE int pgk_instr_align(struct pgk_instr_align *a, const struct pgk_instr *profile,
                                 struct pgk_binaries *binaries, struct pgk_err *err);
void pgk_instr_align_free(struct pgk_instr_align *a);

struct pgk_instr_found {
    enum pgk_match_level level;      /* exact, rerouted (renamed), functions only, or gone */
    uint64_t hash;                   /* that the build has; 0: none */
    const struct pgk_instr_name *to; /* of what was renamed; else NULL */
};
/* A function of the profile, by its position. */
struct pgk_instr_found pgk_instr_align_find(const struct pgk_instr_align *a, uint32_t func);

#endif
