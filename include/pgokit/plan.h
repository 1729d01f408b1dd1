/* Plans for the allocator: which contexts of a heap profile get memory apart from others.
 *
 *     struct pgk_plan *plan;
 *     if (!pgk_plan_heap(&plan, heap, NULL, NULL, NULL, &err))
 *         status = pgk_plan_write(plan, "app.plan", &err);
 *     pgk_plan_close(&plan);
 *
 * libpgokit_alloc reads the file (docs/formats/placement-plan.md). */
#ifndef PGOKIT_PLAN_H
#define PGOKIT_PLAN_H

#include "pgokit/binaries.h"
#include "pgokit/err.h"
#include "pgokit/heap.h"
#include "pgokit/match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_plan;

/* How a plan is made. */
struct pgk_plan_opts {
    size_t struct_size; /* sizeof(struct pgk_plan_opts) */
    unsigned groups;    /* at most, with that of all that is not planned; 2 to 14; 0: 8 */
    unsigned depth;     /* frames looked at, at most; 1 to 16; 0: 8 */
    bool lifetimes_only; /* accesses are not looked at, as where only some of them were counted */
};
/* Plans for the build that was profiled, whose addresses the profile still has (`match` NULL), or
 * for the build that `match` found its contexts in, whose binaries are `binaries`. `opts` may be
 * NULL. PGK_E_ARG if the frames are places and there is no match, or an option is out of range;
 * PGK_E_EMPTY if no context is worth a group. The plan is owned by the caller and needs none of the
 * others any more. */
int pgk_plan_heap(struct pgk_plan **plan, const struct pgk_heap *heap,
                  const struct pgk_match *match, struct pgk_binaries *binaries,
                  const struct pgk_plan_opts *opts, struct pgk_err *err);
/* The plan of a file, with the contexts of a profile, which may be another one than that it was
 * made of: `heap`, `match` and `binaries` as above; of `opts` lifetimes_only counts. PGK_E_CORRUPT
 * if the file is damaged or another release wrote it, PGK_E_MISMATCH if it is for none of the
 * builds that the profile has addresses of. The plan is for reading: pgk_plan_print, and the
 * report page. */
int pgk_plan_read(struct pgk_plan **plan, const char *path, const struct pgk_heap *heap,
                  const struct pgk_match *match, struct pgk_binaries *binaries,
                  const struct pgk_plan_opts *opts, struct pgk_err *err);
/* What groups held in a process, from what libpgokit_alloc wrote to standard error (pgokit run
 * --stats or --stats-signal); lines of others are passed over. Of several times and processes it is
 * the one at which a group had most bytes of objects. The plan shows it from then on.
 * PGK_E_CORRUPT if a line is damaged or of a group that the plan does not have, PGK_E_EMPTY if
 * there is none. */
int pgk_plan_read_stats(struct pgk_plan *plan, const char *path, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_plan_close(struct pgk_plan **plan);

/* Writes the plan to `path` ("-": standard output), whole or not at all. Deterministic. */
int pgk_plan_write(const struct pgk_plan *plan, const char *path, struct pgk_err *err);
/* Says why each context is where it is, and what is expected of that.
 */
int pgk_plan_print(const struct pgk_plan *plan, FILE *out, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
