/* Functions of a binary as a linker can move them: each with all its names. */
#ifndef PGK_LAYOUT_FUNCTIONS_H
#define PGK_LAYOUT_FUNCTIONS_H

#include "elf_file.h"
#include "vec.h"

#define PGK_LAYOUT_NONE UINT32_MAX

struct pgk_layout_function {
    uint64_t low, high;
    uint32_t first_name, n_names; /* in `names` */
};

struct pgk_layout_functions {
    PGK_VEC(struct pgk_layout_function) list; /* ascending, without overlaps */
    PGK_VEC(const char *) names;              /* of the binary, which must stay open */
};

/* PGK_E_NODEBUG without symbols of functions. */
int pgk_layout_functions_open(struct pgk_layout_functions *f, const struct pgk_elf *elf,
                              struct pgk_err *err);
void pgk_layout_functions_close(struct pgk_layout_functions *f);
/* Position of the function that holds `addr`; PGK_LAYOUT_NONE if none does. */
uint32_t pgk_layout_function_at(const struct pgk_layout_functions *f, uint64_t addr);

#endif
