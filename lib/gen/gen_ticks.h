/* Where time was spent: the instructions at which ticks of the branch recorder came, or samples of
 * perf. */
#ifndef PGK_GEN_TICKS_H
#define PGK_GEN_TICKS_H

#include "fail.h"
#include "pgokit/gen.h"

/* Counts them from now on. To be called before anything is added. */
PGK_MUST_USE int pgk_gen_want_ticks(struct pgk_gen *gen, struct pgk_err *err);

struct pgk_gen_ticked {
    bool is_known;    /* in one of the binaries, and: */
    uint32_t binary;  /* its number */
    uint64_t addr;    /* in it */
    const char *file; /* else the path of the file; "": not known */
    uint64_t count;
};
/* Calls `fn`, which returns 0 to go on, for each place: those of a binary with ascending addresses,
 * then other files. */
typedef int pgk_gen_tick_fn(void *ctx, const struct pgk_gen_ticked *ticked);
PGK_MUST_USE int pgk_gen_each_tick(struct pgk_gen *gen, pgk_gen_tick_fn *fn, void *ctx);

#endif
