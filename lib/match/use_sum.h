/* What compiles used of a profile. */
#ifndef PGK_USE_SUM_H
#define PGK_USE_SUM_H

#include "use_record.h"

struct pgk_used {
    const struct pgk_heap *heap;     /* or */
    const struct pgk_sample *sample;
    struct pgk_use_limits limits;
    struct pgk_used_calls calls;
    struct pgk_used_totals totals[PGK_USES + 1];
    PGK_VEC(struct pgk_used_left) left; /* not used, by falling weight */
};

#endif
