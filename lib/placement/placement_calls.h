/* The calls of a build by what debug information says of them. */
#ifndef PGK_PLACEMENT_CALLS_H
#define PGK_PLACEMENT_CALLS_H

#include "index.h"
#include "placement.h"

/* Calls by the inline chain they are in: places in functions, innermost first. */
struct pgk_plan_places {
    PGK_VEC(struct pgk_plan_place {
        uint64_t chain; /* hash of it */
        struct pgk_plan_call call;
        bool is_tail; /* no frame of the caller stays */
    }) all;
    struct pgk_index index;
};
PGK_MUST_USE int pgk_plan_places_read(struct pgk_plan_places *places, struct pgk_plan *plan,
                                      struct pgk_binaries *binaries, struct pgk_err *err);
void pgk_plan_places_free(struct pgk_plan_places *places);

/* Adds the steps of a stack, at most plan->depth, to the plan; false when out of memory. A frame
 * whose call is not known ends them. */
PGK_MUST_USE bool pgk_plan_add_places(struct pgk_plan *plan, const struct pgk_plan_places *places,
                                      const struct pgk_heap_frame *frames, size_t n);

#endif
