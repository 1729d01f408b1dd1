/* Functions whose shares differ between two profiles of a history. */
#ifndef PGK_HISTORY_MOVERS_H
#define PGK_HISTORY_MOVERS_H

#include "fail.h"
#include "pgokit/history.h"

/* A function whose share of the weight differs between two profiles. */
struct pgk_history_mover {
    const char *name;                   /* linkage name; until the function that gets it returns */
    double before_percent, now_percent; /* of the weight; 0 if it is not among those kept */
};
/* Gets a mover. */
typedef void pgk_history_mover_fn(void *ctx, const struct pgk_history_mover *mover);
/* Calls `fn` for the `top` functions whose share differs most, those first. */
PGK_MUST_USE int pgk_history_movers(struct pgk_history *history, int64_t before, int64_t now,
                                    size_t top, pgk_history_mover_fn *fn, void *ctx,
                                    struct pgk_err *err);

#endif
