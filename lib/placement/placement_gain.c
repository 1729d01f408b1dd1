/* What groups bring. A group is worth its arenas and the look at each allocation where its objects
 * would otherwise lie scattered among others of their size. */
#include "placement.h"

#include "search.h"

/* A group that saves less of the memory at the peak is left out. */
enum { LEAST_PERCENT = 1 };

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

static uint32_t node_below(const struct pgk_plan *plan, uint32_t node,
                           const struct pgk_plan_call *call)
{
    const struct pgk_placement_node *nodes = plan->nodes.v;
    PGK_SEARCH(first, plan->nodes.n - 1, mid, nodes[mid + 1].parent < node)
    for (size_t i = first + 1; i < plan->nodes.n && nodes[i].parent == node; i++)
        if (nodes[i].address == call->address && nodes[i].module == call->module)
            return (uint32_t)i;
    return 0;
}

/* By the first of the calls that a step was compiled to and the trie has. */
static uint32_t found_group(const struct pgk_plan *plan, const struct pgk_plan_context *c)
{
    uint32_t node = 0;
    for (uint32_t step = 0; step < c->n_steps; step++) {
        const struct pgk_plan_step *s = &plan->steps.v[c->first_step + step];
        uint32_t below = 0;
        for (uint32_t i = 0; i < s->n && !below; i++)
            below = node_below(plan, node, &plan->calls.v[s->first + i]);
        if (!below)
            break;
        node = below;
    }
    return plan->nodes.v[node].group;
}

void pgk_plan_take_found_groups(struct pgk_plan *plan, enum pgk_plan_reason otherwise)
{
    for (size_t i = 0; i < plan->contexts.n; i++) {
        struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->reason != PGK_PLAN_SPLIT)
            continue;
        c->group = found_group(plan, c);
        if (!c->group)
            c->reason = otherwise;
    }
}

/* ---- those that are not worth it ---- */

/* The numbers that groups have without those that save too little; false if all stay. */
static bool number_worthy(struct pgk_plan *plan, uint32_t numbers[PGK_PLACEMENT_GROUPS_MAX])
{
    uint64_t peak = 0;
    uint32_t n = 1;
    for (size_t i = 0; i < plan->contexts.n; i++)
        peak += plan->contexts.v[i].reason == PGK_PLAN_LARGE ? 0 : plan->contexts.v[i].peak;
    numbers[0] = 0;
    for (uint32_t g = 1; g < plan->n_groups; g++) {
        const struct pgk_plan_pages pages = pgk_plan_pages_of(plan, g);
        const uint64_t saved = pages.scattered > pages.apart ? pages.scattered - pages.apart : 0;
        numbers[g] = saved > peak / 100 * LEAST_PERCENT ? n++ : 0;
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

int pgk_plan_keep_worthy(struct pgk_plan *plan, struct pgk_err *err)
{
    uint32_t numbers[PGK_PLACEMENT_GROUPS_MAX];
    pgk_plan_take_found_groups(plan, PGK_PLAN_SHARED);
    while (number_worthy(plan, numbers)) {
        leave_out(plan, numbers);
        if (plan->n_groups == 1)
            return pgk_fail(err, PGK_E_EMPTY, .field = "groups",
                            .found = "none whose objects would lie closer together",
                            .hint = "a plan would bring this program nothing; run it without");
        PGK_TRY(pgk_plan_make_trie(plan, err));
        pgk_plan_take_found_groups(plan, PGK_PLAN_SHARED);
    }
    return 0;
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
