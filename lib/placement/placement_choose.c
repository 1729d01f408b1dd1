/* Which contexts share a group.
 *
 * An allocator keeps objects of one size together anyway; a plan matters if contexts share a size.
 * Each of the contexts that hold most memory at the peak has a group of its own, and the others
 * share the last one. Which ones share a group made no difference in programs that were measured
 * (docs/design/placement.md). */
#include "placement.h"

#include "message.h"
#include "pgokit/human.h"

#include <stdlib.h>

enum { SMALLEST_PART = 250 }; /* a context with less of the peak is left alone */
/* A context is mixed if its objects live for an eighth of the longest lifetime on average.
 * Lifetimes up to SURE_MS differ by chance, because other programs had the processor for so long;
 * even on an idle machine they differ by several steps of the clock. */
enum { MIXED = 8, SURE_MS = 128, STEPS_MS = 16, LARGEST = PGK_PLAN_CLASS_BYTES * PGK_PLAN_CLASSES };

/* ---- what is worth a group ---- */

bool pgk_plan_is_large(const struct pgk_plan_context *c)
{
    return c->objects && c->total / c->objects > LARGEST;
}

bool pgk_plan_lives_longer(uint64_t ms, uint64_t than_ms)
{
    return ms > MIXED * (than_ms < SURE_MS ? SURE_MS : than_ms);
}

/* Time that another program takes is added to the longest lifetime, and to the mean in proportion
 * to the objects that are alive then: little if most objects have come and gone. */
static bool is_mixed(const struct pgk_plan_context *c)
{
    const uint64_t chance_ms = c->peak < c->total ? SURE_MS * c->peak / c->total : SURE_MS,
                   sure_ms = chance_ms > STEPS_MS ? chance_ms : STEPS_MS,
                   mean_ms = c->lifetime_ms > sure_ms ? c->lifetime_ms : sure_ms;
    return c->longest_ms > SURE_MS + MIXED * mean_ms && c->kept < c->peak / 2;
}

static enum pgk_plan_reason reason_of(const struct pgk_plan_context *c, uint64_t peak)
{
    if (!c->n_steps)
        return PGK_PLAN_NO_CALL;
    if (!c->peak || c->peak < peak / SMALLEST_PART)
        return PGK_PLAN_SMALL;
    if (pgk_plan_is_large(c))
        return PGK_PLAN_LARGE;
    if (is_mixed(c))
        return PGK_PLAN_MIXED;
    if (c->sure_peak < peak / SMALLEST_PART)
        return PGK_PLAN_UNDECIDED;
    return PGK_PLAN_SPLIT;
}

/* By falling weight; those of one weight by their calls, so that the order does not depend on that
 * of the profile. */
static int by_weight(const void *a, const void *b, void *arg)
{
    const struct pgk_plan *plan = arg;
    const struct pgk_plan_context *x = a, *y = b;
    if (x->peak != y->peak)
        return x->peak < y->peak ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    for (uint32_t i = 0; i < x->n_steps && i < y->n_steps; i++) {
        const struct pgk_plan_call *p = &plan->calls.v[plan->steps.v[x->first_step + i].first],
                                   *q = &plan->calls.v[plan->steps.v[y->first_step + i].first];
        if (p->module != q->module || p->address != q->address)
            return p->module != q->module ? (p->module > q->module ? 1 : -1)
                                          : (p->address > q->address ? 1 : -1);
    }
    return (x->n_steps > y->n_steps) - (x->n_steps < y->n_steps);
}

void pgk_plan_sort_contexts(struct pgk_plan *plan)
{
    if (plan->contexts.n)
        qsort_r(plan->contexts.v, plan->contexts.n, sizeof *plan->contexts.v, by_weight, plan);
}

/* ---- the choice ---- */

static void note_undecided(const struct pgk_plan *plan)
{
    char size[PGK_HUMAN_SIZE];
    double bytes = 0;
    size_t n = 0;
    for (size_t i = 0; i < plan->contexts.n; i++)
        if (plan->contexts.v[i].reason == PGK_PLAN_UNDECIDED) {
            n++;
            bytes += (double)plan->contexts.v[i].peak;
        }
    if (n)
        pgk_note("%zu context%s with %s at the peak %s left out of the plan: more samples are "
                 "needed", n, pgk_plural(n), pgk_human_bytes(size, bytes), n == 1 ? "is" : "are");
}

int pgk_plan_choose(struct pgk_plan *plan, uint32_t groups, struct pgk_err *err)
{
    uint64_t peak = 0;
    size_t n = 0;
    pgk_plan_sort_contexts(plan);
    for (size_t i = 0; i < plan->contexts.n; i++)
        peak += plan->contexts.v[i].peak;
    for (size_t i = 0; i < plan->contexts.n; i++) {
        struct pgk_plan_context *c = &plan->contexts.v[i];
        c->reason = reason_of(c, peak);
        if (c->reason == PGK_PLAN_SPLIT)
            c->group = ++n < groups ? (uint32_t)n : groups - 1;
    }
    note_undecided(plan);
    if (n < 2)
        return pgk_fail(err, PGK_E_EMPTY, .field = "contexts", .found = PGK_F("%zu", n),
                        .expected = "two or more that hold memory at the peak",
                        .hint = "there is nothing to keep apart; record a run with more memory");
    plan->n_groups = n < groups ? (uint32_t)n + 1 : groups;
    return 0;
}

uint64_t pgk_plan_scattered(const uint64_t all[PGK_PLAN_CLASSES],
                            const uint64_t part[PGK_PLAN_CLASSES])
{
    enum { PAGE = 4096 };
    double sum = 0;
    for (uint32_t c = 0; c < PGK_PLAN_CLASSES; c++) {
        if (!all[c] || !part[c])
            continue;
        const double objects = (double)PAGE / ((c + 1) * PGK_PLAN_CLASS_BYTES),
                     others = part[c] < all[c] ? 1 - (double)part[c] / (double)all[c] : 0;
        double none = 1; /* objects of a page, and none is of the part */
        for (double left = objects; left > 0; left--)
            none *= left < 1 ? 1 - left * (1 - others) : others;
        sum += (double)all[c] * (1 - none);
    }
    return (uint64_t)sum;
}
