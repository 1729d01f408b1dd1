/* One build of a program: its functions, where ticks came, and what is inlined where. */
#ifndef PGK_BUILT_MODEL_H
#define PGK_BUILT_MODEL_H

#include "intern.h"
#include "pgokit/gain.h"

/* Those of one name are one, as in profiles. */
struct pgk_built_function {
    uint64_t ticks;      /* in its code, wherever that is inlined */
    uint64_t ticks_away; /* of these, in copies that are inlined */
    uint64_t bytes;      /* of code of its own; 0: it has none */
    uint64_t cold_bytes; /* of these, in parts that were split off because they are cold */
    uint64_t part_bytes; /* of these, in parts that were split off so that the rest is inlined */
    uint64_t place;      /* of the first code of its own that is in no such part, in bytes from the
                          * start of the code of its file; PGK_BUILT_NOWHERE */
    uint32_t binary;     /* that has it, by its number */
};
#define PGK_BUILT_NOWHERE UINT64_MAX

struct pgk_built_inlined {
    uint32_t callee, caller; /* names */
    uint32_t places;         /* in the source of the caller, in each function that has its code */
    uint64_t samples;        /* of the lines of the callee there, without what is inlined in it */
};

/* A file that is none of the build's. */
struct pgk_built_other {
    uint32_t file; /* its path, among the names */
    uint64_t ticks;
};

struct pgk_built {
    struct pgk_intern names;                      /* linkage names, without what compilers append */
    PGK_VEC(struct pgk_built_function) functions; /* by name; [0]: code without one */
    PGK_VEC(struct pgk_built_inlined) inlined;    /* by callee, then caller */
    PGK_VEC(struct pgk_built_other) others;
    uint64_t ticks; /* all of them */
    uint64_t pages; /* of 4 KiB: those with the most ticks that have nine tenths of those in
                     * the build's code */
};

/* The function of this name, added if it is new; NULL when out of memory. */
struct pgk_built_function *pgk_built_function(struct pgk_built *build, const char *name,
                                              size_t len);
/* Sorts the list, and adds up what is of one callee and caller. */
void pgk_built_sort_inlined(struct pgk_built *build);

#endif
