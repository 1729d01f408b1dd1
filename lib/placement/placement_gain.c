/* Benefit and cost of groups. A group is worth its arenas if its objects would otherwise be
 * scattered among others of their size. A call is worth a lookup of the calls above it if few
 * objects are allocated there for each one that is separated, or if the lookup keeps the survivors
 * of a burst from holding much memory.
 *
 * The first two are by counts and sizes alone, not by the time of the run, which differs from
 * recording to recording. */
#include "placement.h"

#include "search.h"

#include <stdlib.h>

/* A group that holds or saves less than LEAST_PERCENT of the memory at the peak is left out; one
 * with OFTEN_PERCENT of all accesses may be small. */
enum { LEAST_PERCENT = 1, OFTEN_PERCENT = 5 };
/* Tenths of a nanosecond that the first step to a function above takes, and each further one; and
 * the most that all steps from a call may take for each object at the peak that they separate. */
enum { FIRST_STEP = 30, FURTHER_STEP = 6, MOST_FOR_EACH = 160 };
/* Otherwise the share of the memory at the peak that the lookups at a call have to save. A program
 * that allocates in bursts does more lookups with each burst, although no more objects are live:
 * judged by time alone it would have no plan, though the few survivors of each burst would hold
 * most of its pages. The share is large because the time is lost in any case, and the memory held
 * is an estimate: other objects may fill the holes, and groups have partly empty pages of their
 * own. */
enum { SPARED_PERCENT = 25 };

void pgk_plan_add_to_classes(uint64_t classes[PGK_PLAN_CLASSES], const struct pgk_plan_context *c,
                             uint64_t bytes)
{
    const uint32_t n = c->class_high - c->class_low + 1;
    for (uint32_t i = c->class_low; i <= c->class_high; i++)
        classes[i] += bytes / n;
}

struct pgk_plan_pages pgk_plan_pages_of(const struct pgk_plan *plan, uint32_t group)
{
    uint64_t all[PGK_PLAN_CLASSES] = {0}, part[PGK_PLAN_CLASSES] = {0};
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->reason == PGK_PLAN_LARGE)
            continue;
        pgk_plan_add_to_classes(all, c, c->peak);
        if (c->group == group)
            pgk_plan_add_to_classes(part, c, c->peak);
    }
    return (struct pgk_plan_pages){pgk_plan_scattered(all, part), pgk_plan_scattered(part, part)};
}

/* ---- groups as the allocator will find them ---- */

/* The first child of a node; children are adjacent. 0: there are none. */
static size_t first_below(const struct pgk_plan *plan, uint32_t node)
{
    const struct pgk_placement_node *nodes = plan->nodes.v;
    PGK_SEARCH(before, plan->nodes.n - 1, mid, nodes[mid + 1].parent < node)
    return before + 1 < plan->nodes.n && nodes[before + 1].parent == node ? before + 1 : 0;
}

static uint32_t node_of_call(const struct pgk_plan *plan, size_t first,
                             const struct pgk_plan_call *call)
{
    const struct pgk_placement_node *nodes = plan->nodes.v;
    for (size_t i = first; i < plan->nodes.n && nodes[i].parent == nodes[first].parent; i++)
        if (nodes[i].address == call->address && nodes[i].module == call->module)
            return (uint32_t)i;
    return 0;
}

/* The nodes that a context leads through: the call that allocates, the last one, and what the steps
 * between them cost an allocation. */
struct path {
    uint32_t leaf, node;
    uint64_t tenths_ns;
};

/* By the first of the calls that a step was compiled to and the trie has. */
static struct path path_of(const struct pgk_plan *plan, const struct pgk_plan_context *c)
{
    struct path path = {0};
    for (uint32_t step = 0; step < c->n_steps; step++) {
        const struct pgk_plan_step *s = &plan->steps.v[c->first_step + step];
        const size_t first = first_below(plan, path.node);
        uint32_t below = 0;
        if (!first)
            break;
        path.tenths_ns += !step ? 0 : step == 1 ? FIRST_STEP : FURTHER_STEP;
        for (uint32_t i = 0; i < s->n && !below; i++)
            below = node_of_call(plan, first, &plan->calls.v[s->first + i]);
        if (!below)
            break;
        path.leaf = path.leaf ? path.leaf : below;
        path.node = below;
    }
    return path;
}

/* Objects of a context that are alive at the peak. */
static uint64_t alive(const struct pgk_plan_context *c)
{
    return c->total ? (uint64_t)((double)c->peak * (double)c->objects / (double)c->total) : 0;
}

void pgk_plan_take_found_groups(struct pgk_plan *plan, enum pgk_plan_reason otherwise)
{
    plan->looks = (struct pgk_plan_looks){0};
    for (size_t i = 0; i < plan->contexts.n; i++) {
        struct pgk_plan_context *c = &plan->contexts.v[i];
        const struct path path = path_of(plan, c);
        if (c->reason == PGK_PLAN_SPLIT) {
            c->group = plan->nodes.v[path.node].group;
            c->reason = c->group ? PGK_PLAN_SPLIT : otherwise;
        }
        plan->looks.allocations += path.tenths_ns ? c->objects : 0;
        plan->looks.tenths_ns += path.tenths_ns * c->objects;
        plan->looks.apart += c->group ? alive(c) : 0;
    }
}

/* ---- those that are not worth it ---- */

/* The numbers that groups have without those that save too little; false if all stay. */
static bool number_worthy(struct pgk_plan *plan, uint32_t numbers[PGK_PLACEMENT_GROUPS_MAX])
{
    uint64_t bytes[PGK_PLACEMENT_GROUPS_MAX] = {0}, accesses[PGK_PLACEMENT_GROUPS_MAX] = {0};
    uint64_t peak = 0, all_accesses = 0;
    uint32_t n = 1;
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        peak += c->reason == PGK_PLAN_LARGE ? 0 : c->peak;
        all_accesses += c->accesses;
        bytes[c->group] += c->peak;
        accesses[c->group] += c->accesses;
    }
    numbers[0] = 0;
    for (uint32_t g = 1; g < plan->n_groups; g++) {
        const struct pgk_plan_pages pages = pgk_plan_pages_of(plan, g);
        const uint64_t saved = pages.scattered > pages.apart ? pages.scattered - pages.apart : 0;
        const bool often = plan->knows_accesses && accesses[g] > all_accesses / 100 * OFTEN_PERCENT;
        numbers[g] =
            saved > peak / 100 * LEAST_PERCENT && (often || bytes[g] > peak / 100 * LEAST_PERCENT)
                ? n++
                : 0;
    }
    const bool all_stay = n == plan->n_groups;
    plan->n_groups = n;
    return !all_stay;
}

static void leave_out(struct pgk_plan *plan, const uint32_t numbers[PGK_PLACEMENT_GROUPS_MAX])
{
    for (size_t i = 0; i < plan->contexts.n; i++) {
        struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->group && !numbers[c->group])
            c->reason = PGK_PLAN_GAINLESS;
        c->group = numbers[c->group];
    }
}

/* ---- calls whose lookups cost too much ---- */

/* A call that allocates, by its node, with the cost and benefit of its lookups. */
struct leaf {
    uint32_t node;
    struct pgk_plan_looks looks;
};

/* The most expensive first. */
static int by_cost(const void *a, const void *b)
{
    const struct leaf *x = a, *y = b;
    if (x->looks.tenths_ns != y->looks.tenths_ns)
        return x->looks.tenths_ns < y->looks.tenths_ns ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

static void take_looks(const struct pgk_plan *plan, struct leaf *leaves, uint32_t *leaf_of)
{
    for (size_t i = 0; i < plan->nodes.n; i++)
        leaves[i].node = (uint32_t)i;
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        const struct path path = path_of(plan, c);
        leaf_of[i] = path.leaf;
        leaves[path.leaf].looks.tenths_ns += path.tenths_ns * c->objects;
        leaves[path.leaf].looks.apart += c->group ? alive(c) : 0;
    }
}

static uint64_t bytes_at_peak(const struct pgk_plan *plan)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->contexts.n; i++)
        bytes += plan->contexts.v[i].reason == PGK_PLAN_LARGE ? 0 : plan->contexts.v[i].peak;
    return bytes;
}

/* Drops the groups of one call, unless they save much memory. */
static bool leave_leaf(struct pgk_plan *plan, uint32_t leaf, const uint32_t *leaf_of,
                       uint32_t *groups, uint64_t span_ms)
{
    const uint64_t before = pgk_plan_spared(plan, span_ms);
    for (size_t i = 0; i < plan->contexts.n; i++) {
        groups[i] = plan->contexts.v[i].group;
        if (leaf_of[i] == leaf)
            plan->contexts.v[i].group = 0;
    }
    const uint64_t after = pgk_plan_spared(plan, span_ms);
    const bool stays = plan->knows_peak && before > after &&
                       before - after > bytes_at_peak(plan) / 100 * SPARED_PERCENT;
    for (size_t i = 0; i < plan->contexts.n; i++) {
        struct pgk_plan_context *c = &plan->contexts.v[i];
        if (stays)
            c->group = groups[i];
        else if (c->group != groups[i])
            c->reason = PGK_PLAN_BUSY;
    }
    return !stays;
}

/* Drops the groups of calls that cost more than they save; false if there are none. The savings of
 * one call depend on the calls that are kept, so the most expensive ones are tried first. */
static bool leave_leaves(struct pgk_plan *plan, struct leaf *leaves, uint32_t *leaf_of,
                         uint32_t *groups)
{
    bool any = false;
    plan->decided = (struct pgk_plan_decided){0};
    take_looks(plan, leaves, leaf_of);
    qsort(leaves, plan->nodes.n, sizeof *leaves, by_cost);
    const uint64_t span_ms = pgk_plan_span_ms(plan);
    for (size_t i = 0; i < plan->nodes.n && leaves[i].looks.tenths_ns; i++) {
        const struct leaf *l = &leaves[i];
        if (!l->looks.apart)
            continue;
        if (l->looks.tenths_ns <= MOST_FOR_EACH * l->looks.apart)
            plan->decided.by_time++;
        else if (leave_leaf(plan, l->node, leaf_of, groups, span_ms))
            any = true;
        else
            plan->decided.by_memory++;
    }
    return any;
}

static bool leave_busy(struct pgk_plan *plan, bool *any)
{
    struct leaf *leaves = pgk_mem_zalloc(plan->nodes.n, sizeof *leaves);
    uint32_t *leaf_of = pgk_mem_zalloc(plan->contexts.n, sizeof *leaf_of),
             *groups = pgk_mem_zalloc(plan->contexts.n, sizeof *groups);
    const bool done = leaves && leaf_of && groups;
    if (done)
        *any = leave_leaves(plan, leaves, leaf_of, groups);
    pgk_mem_free(leaves);
    pgk_mem_free(leaf_of);
    pgk_mem_free(groups);
    return done;
}

static bool leave_unworthy(struct pgk_plan *plan, bool *changed)
{
    uint32_t numbers[PGK_PLACEMENT_GROUPS_MAX];
    if (!leave_busy(plan, changed))
        return false;
    if (number_worthy(plan, numbers)) {
        leave_out(plan, numbers);
        *changed = true;
    }
    return true;
}

static int nothing_pays(const struct pgk_plan *plan, struct pgk_err *err)
{
    bool busy = false;
    for (size_t i = 0; i < plan->contexts.n; i++)
        busy |= plan->contexts.v[i].reason == PGK_PLAN_BUSY;
    return pgk_fail(err, PGK_E_EMPTY, .field = "groups",
                    .found = busy ? "no allocation site is worth separating: the lookup on each "
                                    "allocation would cost more than it saves"
                                  : "none whose objects would lie closer together",
                    .hint = "a plan would bring this program nothing; run it without");
}

int pgk_plan_keep_worthy(struct pgk_plan *plan, struct pgk_err *err)
{
    bool changed = false;
    pgk_plan_take_found_groups(plan, PGK_PLAN_SHARED);
    for (;;) {
        if (!leave_unworthy(plan, &changed))
            return pgk_fail_nomem(err);
        if (!changed)
            return 0;
        if (plan->n_groups == 1)
            return nothing_pays(plan, err);
        PGK_TRY(pgk_plan_make_trie(plan, err));
        pgk_plan_take_found_groups(plan, PGK_PLAN_SHARED);
    }
}

double pgk_plan_mean_density(const struct pgk_plan *plan)
{
    double accesses = 0, bytes = 0;
    for (size_t i = 0; i < plan->contexts.n; i++) {
        accesses += (double)plan->contexts.v[i].accesses;
        bytes += (double)plan->contexts.v[i].total;
    }
    return bytes > 0 ? accesses / bytes : 0;
}

struct use {
    double accesses, bytes, lifetimes, objects;
};

static struct use use_of(const struct pgk_plan *plan, uint32_t group)
{
    struct use u = {0};
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->group != group)
            continue;
        u.accesses += (double)c->accesses;
        u.bytes += (double)c->total;
        u.lifetimes += (double)c->lifetime_ms * (double)c->objects;
        u.objects += (double)c->objects;
    }
    return u;
}

bool pgk_plan_is_cold(const struct pgk_plan *plan, uint32_t group)
{
    enum { RARER = 8, PART_OF_RUN = 4 };
    const struct use u = use_of(plan, group);
    const double mean = pgk_plan_mean_density(plan);
    return group && plan->knows_accesses && plan->run_ms && mean > 0 &&
           u.accesses * RARER <= u.bytes * mean &&
           u.lifetimes * PART_OF_RUN >= u.objects * (double)plan->run_ms;
}

bool pgk_plan_is_hot(const struct pgk_plan *plan, uint32_t group)
{
    const struct use u = use_of(plan, group);
    const double mean = pgk_plan_mean_density(plan);
    return group && plan->knows_accesses && mean > 0 && u.accesses >= u.bytes * mean;
}
