/* New names for functions and virtual tables. */
#ifndef PGK_INSTR_RENAME_H
#define PGK_INSTR_RENAME_H

#include "instr_model.h"

struct pgk_instr_renames {
    struct pgk_arena arena;
    struct pgk_instr_names old;
    PGK_VEC(struct pgk_instr_name) new; /* by position in `old` */
};

/* The new name of what has this one, or `name`; `renames` may be NULL. */
const struct pgk_instr_name *pgk_instr_renamed(const struct pgk_instr_renames *renames,
                                               const struct pgk_instr_name *name);
/* The same for what may be known by its reference alone. */
uint64_t pgk_instr_renamed_ref(const struct pgk_instr_renames *renames, uint64_t ref);

#endif
