/* Which contexts share a group.
 *
 * An allocator keeps objects of one size together anyway; a plan matters if contexts share a size.
 * So each context that holds memory at the peak starts as a group of its own, and groups are joined
 * until they are few enough. The first to be joined lose least: they have few sizes in common, and
 * their objects live for about as long and are accessed about as often. */
#include "placement.h"

#include <stdlib.h>

/* More contexts than these are not compared; a context with less of the peak is left alone. */
enum { COMPARED = 256, SMALLEST_PART = 250 };
/* A context is mixed if its objects live for an eighth of the longest lifetime on average.
 * Lifetimes up to SURE_MS differ by chance, because other programs had the processor for so long;
 * even on an idle machine they differ by several steps of the clock. */
enum { MIXED = 8, SURE_MS = 128, STEPS_MS = 16, LARGEST = PGK_PLAN_CLASS_BYTES * PGK_PLAN_CLASSES };
enum { ACCESSES_PER = 1024 };

struct cluster {
    uint64_t classes[PGK_PLAN_CLASSES]; /* bytes at the peak, by size */
    uint64_t peak, kept, objects, lifetime_sum, accesses, total;
    uint32_t group; /* that it was joined to: itself while it is one */
};

struct choice {
    struct pgk_plan *plan;
    struct cluster *clusters;
    uint64_t *costs; /* of joining two: [a * n + b], a < b */
    size_t n;
};

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

/* ---- clusters ---- */

static void begin(struct cluster *cl, const struct pgk_plan_context *c)
{
    const uint32_t n = c->class_high - c->class_low + 1;
    for (uint32_t i = c->class_low; i <= c->class_high; i++)
        cl->classes[i] = c->peak / n + 1;
    cl->peak = c->peak;
    cl->kept = c->kept;
    cl->objects = c->objects;
    cl->lifetime_sum = c->lifetime_ms * c->objects;
    cl->accesses = c->accesses;
    cl->total = c->total;
}

static int magnitude(uint64_t n)
{
    return n ? 64 - __builtin_clzll(n) : 0;
}

/* Most that is alive of one at the peak is still there at the end, hardly anything of the other:
 * that holds also where a run is too short for clocks. */
static bool is_kept_longer(const struct cluster *a, const struct cluster *b)
{
    return a->kept > a->peak / 2 && b->kept < b->peak / MIXED;
}

/* How unlike the objects of two are: 0 to 2. */
static uint64_t unlike(const struct choice *ch, const struct cluster *a, const struct cluster *b)
{
    const uint64_t of_a = a->objects ? a->lifetime_sum / a->objects : 0,
                   of_b = b->objects ? b->lifetime_sum / b->objects : 0;
    uint64_t n = pgk_plan_lives_longer(of_a, of_b) || pgk_plan_lives_longer(of_b, of_a) ||
                 is_kept_longer(a, b) || is_kept_longer(b, a);
    if (ch->plan->knows_accesses) {
        const int density = magnitude(a->accesses / (a->total / ACCESSES_PER + 1)) -
                            magnitude(b->accesses / (b->total / ACCESSES_PER + 1));
        n += abs(density) >= 3;
    }
    return n;
}

static uint64_t cost_of(const struct choice *ch, size_t i, size_t k)
{
    const struct cluster *a = &ch->clusters[i], *b = &ch->clusters[k];
    uint64_t common = 0;
    for (uint32_t c = 0; c < PGK_PLAN_CLASSES; c++)
        common += a->classes[c] < b->classes[c] ? a->classes[c] : b->classes[c];
    const uint64_t less = a->peak < b->peak ? a->peak : b->peak, differ = unlike(ch, a, b);
    return common * (1 + 4 * differ) + less / 16 * differ;
}

static bool is_one(const struct choice *ch, size_t i)
{
    return ch->clusters[i].group == i;
}

static void join(struct choice *ch, size_t a, size_t b)
{
    struct cluster *into = &ch->clusters[a];
    const struct cluster *from = &ch->clusters[b];
    for (uint32_t c = 0; c < PGK_PLAN_CLASSES; c++)
        into->classes[c] += from->classes[c];
    into->peak += from->peak;
    into->kept += from->kept;
    into->objects += from->objects;
    into->lifetime_sum += from->lifetime_sum;
    into->accesses += from->accesses;
    into->total += from->total;
    for (size_t i = 0; i < ch->n; i++)
        if (ch->clusters[i].group == b)
            ch->clusters[i].group = (uint32_t)a;
    for (size_t i = 0; i < ch->n; i++)
        if (i != a && is_one(ch, i))
            ch->costs[i < a ? i * ch->n + a : a * ch->n + i] = cost_of(ch, a, i);
}

static void join_cheapest(struct choice *ch)
{
    size_t best_a = 0, best_b = 0;
    uint64_t best = UINT64_MAX;
    for (size_t a = 0; a < ch->n; a++)
        for (size_t b = a + 1; is_one(ch, a) && b < ch->n; b++)
            if (is_one(ch, b) && ch->costs[a * ch->n + b] < best) {
                best = ch->costs[a * ch->n + b];
                best_a = a;
                best_b = b;
            }
    join(ch, best_a, best_b);
}

/* ---- the choice ---- */

static void number_groups(struct choice *ch, struct pgk_plan_context *const *candidates)
{
    struct pgk_plan *plan = ch->plan;
    plan->n_groups = 1;
    for (size_t i = 0; i < ch->n; i++) {
        const uint32_t of = ch->clusters[i].group;
        candidates[i]->group = of == i ? plan->n_groups++ : candidates[of]->group;
    }
}

static int choose_among(struct pgk_plan *plan, struct pgk_plan_context *const *candidates, size_t n,
                        uint32_t groups, struct pgk_err *err)
{
    struct choice ch = {.plan = plan, .n = n};
    ch.clusters = pgk_mem_zalloc(n, sizeof *ch.clusters);
    ch.costs = pgk_mem_alloc(n * n, sizeof *ch.costs);
    if (ch.clusters && ch.costs) {
        for (size_t i = 0; i < n; i++) {
            begin(&ch.clusters[i], candidates[i]);
            ch.clusters[i].group = (uint32_t)i;
        }
        for (size_t i = 0; i < n; i++)
            for (size_t k = i + 1; k < n; k++)
                ch.costs[i * n + k] = cost_of(&ch, i, k);
        for (size_t left = n; left > groups - 1; left--)
            join_cheapest(&ch);
        number_groups(&ch, candidates);
    }
    const bool done = ch.clusters && ch.costs;
    pgk_mem_free(ch.clusters);
    pgk_mem_free(ch.costs);
    return done ? 0 : pgk_fail_nomem(err);
}

int pgk_plan_choose(struct pgk_plan *plan, uint32_t groups, struct pgk_err *err)
{
    struct pgk_plan_context *candidates[COMPARED];
    uint64_t peak = 0;
    size_t n = 0;
    pgk_plan_sort_contexts(plan);
    for (size_t i = 0; i < plan->contexts.n; i++)
        peak += plan->contexts.v[i].peak;
    for (size_t i = 0; i < plan->contexts.n; i++) {
        struct pgk_plan_context *c = &plan->contexts.v[i];
        c->reason = reason_of(c, peak);
        if (c->reason == PGK_PLAN_SPLIT && n == COMPARED)
            c->reason = PGK_PLAN_MANY;
        if (c->reason == PGK_PLAN_SPLIT)
            candidates[n++] = c;
    }
    if (n < 2)
        return pgk_fail(err, PGK_E_EMPTY, .field = "contexts", .found = PGK_F("%zu", n),
                        .expected = "two or more that hold memory at the peak",
                        .hint = "there is nothing to keep apart; record a run with more memory");
    return choose_among(plan, candidates, n, groups, err);
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
