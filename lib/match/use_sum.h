/* What compiles used of a profile. */
#ifndef PGK_USE_SUM_H
#define PGK_USE_SUM_H

#include "use_record.h"

/* What contexts, or types at places, add up to. */
struct pgk_used_totals {
    size_t items;    /* contexts, or types at places */
    uint64_t weight; /* their bytes; objects at virtual calls */
};

/* What records say of calls. */
struct pgk_used_calls {
    size_t modules;     /* records of compiles */
    size_t links;       /* records of modules that a link optimised */
    size_t others;      /* records of other profiles, which are left out */
    uint64_t given;     /* calls with a hint or types: the remarks of -Rpass=pgokit */
    uint64_t missed;    /* the remarks of -Rpass-missed=pgokit */
    uint64_t unlocated; /* calls without debug information */
    uint64_t linked;    /* calls hinted, or tables compared, in links */
};

/* A context, or a type at a place, that could have been used and was not. */
struct pgk_used_left {
    enum pgk_use use;       /* why */
    uint64_t weight;        /* bytes; objects */
    size_t context;         /* of the heap profile */
    uint32_t node;          /* of the sample profile */
    uint32_t line;          /* of the type's record */
    uint32_t discriminator; /* of the type's record */
    const char *type;       /* linkage name of its virtual table; "": unknown, or a context */
};

struct pgk_used {
    const struct pgk_heap *heap;     /* or */
    const struct pgk_sample *sample;
    struct pgk_use_limits limits;
    struct pgk_used_calls calls;     /* of all records together */
    struct pgk_used_totals totals[PGK_USES + 1]; /* by outcome; of all for PGK_USES */
    PGK_VEC(struct pgk_used_left) left; /* not used, by falling weight */
};

#endif
