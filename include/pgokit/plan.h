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
