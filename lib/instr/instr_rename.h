/* New names for functions and virtual tables. */
#ifndef PGK_INSTR_RENAME_H
#define PGK_INSTR_RENAME_H

#include "instr_model.h"

struct pgk_instr_renames {
    struct pgk_arena arena;
    struct pgk_instr_names old;
    PGK_VEC(struct pgk_instr_name) new; /* by position in `old` */
};

/* Gives a name a new one; of several the first counts. Free in any case. */
PGK_MUST_USE int pgk_instr_rename(struct pgk_instr_renames *r, const char *old, size_t n_old,
                                  const char *new, size_t n_new, struct pgk_err *err);
void pgk_instr_renames_free(struct pgk_instr_renames *r);

/* The new name of what has this one, or `name`; `renames` may be NULL. */
const struct pgk_instr_name *pgk_instr_renamed(const struct pgk_instr_renames *renames,
                                               const struct pgk_instr_name *name);
/* The same for what may be known by its reference alone. */
uint64_t pgk_instr_renamed_ref(const struct pgk_instr_renames *renames, uint64_t ref);

#endif
