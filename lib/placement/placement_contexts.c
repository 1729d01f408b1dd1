/* The contexts of a profile, with what a plan needs of them. */
#include "placement_calls.h"

#include "binary_set.h"
#include "elf_file.h"
#include "estimate.h"
#include "heap_match.h"
#include "heap_model.h"
#include "search.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { FRAMES_MAX = 256 };

/* ---- calls ---- */

/* Addresses of the build that was profiled. What is in no module ends the stack. */
static bool add_addresses(struct pgk_plan *plan, const struct pgk_heap_frame *frames, size_t n)
{
    for (size_t i = 0; i < n && i < plan->depth && frames[i].build_id_size; i++) {
        const uint32_t module =
            pgk_plan_module(plan, frames[i].build_id, frames[i].build_id_size);
        const struct pgk_plan_step step = {(uint32_t)plan->calls.n, 1};
        if (module == UINT32_MAX)
            return plan->modules.n == PGK_PLACEMENT_MODULES_MAX;
        if (!pgk_vec_push(&plan->calls, (struct pgk_plan_call){frames[i].address, module}) ||
            !pgk_vec_push(&plan->steps, step))
            return false;
    }
    return true;
}

/* ---- figures ---- */

static uint32_t class_of(uint64_t bytes)
{
    const uint64_t class = bytes ? (bytes - 1) / PGK_PLAN_CLASS_BYTES : 0;
    return class < PGK_PLAN_CLASSES ? (uint32_t)class : PGK_PLAN_CLASSES - 1;
}

/* If the peak is unknown: the bytes that are alive on average while the program runs. */
static uint64_t estimated_peak(const struct pgk_plan *plan, const struct pgk_plan_context *c)
{
    const uint64_t ms = c->lifetime_ms < plan->run_ms ? c->lifetime_ms : plan->run_ms;
    return plan->run_ms ? (uint64_t)((double)c->total * (double)ms / (double)plan->run_ms) : 0;
}

/* Of a sampled profile the lower limit, where lives are known with the same confidence. */
static uint64_t sure_peak(const struct pgk_heap *heap, size_t i, uint64_t peak)
{
    const struct pgk_mib *m = pgk_heap_mib(heap, i, PGK_MIB_SPACE);
    if (!pgk_mib_is_sampled(m))
        return peak;
    return isinf(pgk_mib_estimate_life(m).high) ? 0 : (uint64_t)pgk_mib_estimate_part(m, peak).low;
}

static void take_figures(const struct pgk_plan *plan, const struct pgk_heap *heap, size_t i,
                         struct pgk_plan_context *c)
{
    c->objects = pgk_heap_value(heap, i, PGK_MIB_AllocCount);
    c->total = pgk_heap_value(heap, i, PGK_MIB_TotalSize);
    c->lifetime_ms = c->objects ? pgk_heap_value(heap, i, PGK_MIB_TotalLifetime) / c->objects : 0;
    c->longest_ms = pgk_heap_value(heap, i, PGK_MIB_MaxLifetime);
    c->accesses = pgk_heap_value(heap, i, PGK_MIB_TotalAccessCount);
    c->class_low = class_of(pgk_heap_value(heap, i, PGK_MIB_MinSize));
    c->class_high = class_of(pgk_heap_value(heap, i, PGK_MIB_MaxSize));
    c->kept = pgk_heap_value(heap, i, PGK_MIB_ExitSize);
    c->peak = plan->knows_peak ? pgk_heap_value(heap, i, PGK_MIB_PeakSize)
                               : estimated_peak(plan, c);
    c->sure_peak = sure_peak(heap, i, c->peak);
}

static void take_run(struct pgk_plan *plan, const struct pgk_heap *heap)
{
    const size_t n = pgk_heap_contexts(heap);
    for (size_t i = 0; i < n; i++) {
        const uint64_t end = pgk_heap_value(heap, i, PGK_MIB_DeallocTimestamp),
                       longest = pgk_heap_value(heap, i, PGK_MIB_MaxLifetime);
        plan->run_ms = end > plan->run_ms ? end : plan->run_ms;
        plan->run_ms = longest > plan->run_ms ? longest : plan->run_ms;
        plan->knows_peak |= pgk_heap_knows(heap, i, PGK_MIB_PeakSize);
    }
    plan->knows_accesses &= !pgk_heap_lacks_accesses(heap);
}

/* ---- all of them ---- */

struct adding {
    struct pgk_plan *plan;
    const struct pgk_heap *heap;
    const struct pgk_match *match;
    struct pgk_plan_places places;
};

static int add_context(struct adding *a, size_t i, struct pgk_err *err)
{
    struct pgk_heap_frame frames[FRAMES_MAX];
    struct pgk_plan *plan = a->plan;
    struct pgk_plan_context c = {.first_step = (uint32_t)plan->steps.n};
    size_t n = a->match ? pgk_match_stack(a->match, i, frames, FRAMES_MAX)
                        : pgk_heap_stack(a->heap, i, frames, FRAMES_MAX);
    n = n < FRAMES_MAX ? n : FRAMES_MAX;
    if (n && !a->match && !frames[0].is_address)
        return pgk_fail(err, PGK_E_ARG, .field = "call stacks",
                        .found = "source positions, not addresses",
                        .hint = "give the binaries of the build that the plan is for (-b)");
    const bool added = a->match ? pgk_plan_add_places(plan, &a->places, frames, n)
                                : add_addresses(plan, frames, n);
    c.n_steps = (uint32_t)plan->steps.n - c.first_step;
    take_figures(plan, a->heap, i, &c);
    return added && pgk_vec_push(&plan->contexts, c) ? 0 : pgk_fail_nomem(err);
}

/* Whether a plan of addresses is for any of the binaries. */
static int check_builds(const struct pgk_plan *plan, struct pgk_binaries *binaries,
                        struct pgk_err *err)
{
    const size_t n = pgk_binaries_count(binaries);
    for (uint32_t i = 0; i < n; i++) {
        const struct pgk_elf *elf = pgk_binaries_elf(binaries, i);
        for (size_t m = 0; m < plan->modules.n; m++)
            if (pgk_elf_has_build_id(elf, plan->modules.v[m].id, plan->modules.v[m].id_size))
                return 0;
    }
    return pgk_fail(err, PGK_E_MISMATCH, .field = "build ids of the binaries",
                    .found = "none that the profile has addresses of",
                    .hint = "give the program that was profiled, too (--profiled-binary)");
}

int pgk_plan_add_contexts(struct pgk_plan *plan, const struct pgk_heap *heap,
                          const struct pgk_match *match, struct pgk_binaries *binaries,
                          struct pgk_err *err)
{
    struct adding a = {.plan = plan, .heap = heap, .match = match};
    const size_t n = pgk_heap_contexts(heap);
    take_run(plan, heap);
    int status = match ? pgk_plan_places_read(&a.places, plan, binaries, err) : 0;
    for (size_t i = 0; i < n && !status; i++)
        status = add_context(&a, i, err);
    pgk_plan_places_free(&a.places);
    status = status ? status : pgk_plan_name_contexts(plan, heap, match, binaries, err);
    return !status && !match && binaries ? check_builds(plan, binaries, err) : status;
}
