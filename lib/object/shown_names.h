/* Names as people are shown them, each made once: demangling takes longer than all
 * the rest. */
#ifndef PGK_SHOWN_NAMES_H
#define PGK_SHOWN_NAMES_H

#include "arena.h"
#include "intern.h"
#include "vec.h"

#include <stdbool.h>

struct pgk_shown_names {
    struct pgk_intern linkage;
    PGK_VEC(const char *) shown; /* by number in `linkage` */
    struct pgk_arena arena;
    bool failed; /* out of memory: some name was not found out */
    bool whole;      /* names of any length with their template arguments */
    size_t columns;  /* that names are shortened to; 0: as above */
};

/* A zeroed struct knows no names. */
void pgk_shown_names_free(struct pgk_shown_names *n);
/* The name as a programmer would say it: demangled, without the template arguments of a long name,
 * and safe for a terminal. Valid until the names are freed. */
const char *pgk_shown_name(struct pgk_shown_names *n, const char *linkage, size_t len);

#endif
