/* What a plan is expected to bring: bytes of pages, if objects of one size were scattered at random
 * without it. */
#include "placement.h"

const char *const pgk_plan_gain_names[PGK_PLAN_GAINS] = {
    [PGK_PLAN_GAIN_TOUCHED] = "pages to go over the objects of each group once",
    [PGK_PLAN_GAIN_KEPT] = "pages kept by what is alive at the end",
    [PGK_PLAN_GAIN_HOT] = "pages with often accessed objects",
};

/* Bytes of a context that are alive at the end, or that are accessed more often than the mean. */
static uint64_t part_of(const struct pgk_plan_context *c, enum pgk_plan_gain gain, double mean)
{
    if (gain == PGK_PLAN_GAIN_KEPT)
        return c->kept < c->peak ? c->kept : c->peak;
    return c->total && (double)c->accesses / (double)c->total >= mean ? c->peak : 0;
}

/* Bytes of pages with a part, scattered within a group; or, `group` UINT32_MAX, within all. */
static uint64_t pages_with(const struct pgk_plan *plan, enum pgk_plan_gain gain, double mean,
                           uint32_t group)
{
    uint64_t all[PGK_PLAN_CLASSES] = {0}, part[PGK_PLAN_CLASSES] = {0};
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->reason == PGK_PLAN_LARGE || (group != UINT32_MAX && c->group != group))
            continue;
        pgk_plan_add_to_classes(all, c, c->peak);
        pgk_plan_add_to_classes(part, c, part_of(c, gain, mean));
    }
    return pgk_plan_scattered(all, part);
}

bool pgk_plan_knows_gain(const struct pgk_plan *plan, enum pgk_plan_gain gain)
{
    return gain == PGK_PLAN_GAIN_TOUCHED ||
           (gain == PGK_PLAN_GAIN_KEPT ? plan->knows_peak : plan->knows_accesses);
}

struct pgk_plan_expected pgk_plan_expect(const struct pgk_plan *plan, enum pgk_plan_gain gain)
{
    struct pgk_plan_expected e = {0};
    const bool touched = gain == PGK_PLAN_GAIN_TOUCHED;
    const double mean = pgk_plan_mean_density(plan);
    for (uint32_t g = touched; g < plan->n_groups; g++) {
        const struct pgk_plan_pages pages = pgk_plan_pages_of(plan, g);
        e.with += touched ? pages.apart : pages_with(plan, gain, mean, g);
        e.without += touched ? pages.scattered : 0;
    }
    if (!touched)
        e.without = pages_with(plan, gain, mean, UINT32_MAX);
    return e;
}
