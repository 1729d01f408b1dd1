/* The expected benefit of a plan: bytes of pages, if objects of one size were scattered at random
 * without it. */
#include "placement.h"

/* Spans that are tried are 1, 2, 4 ms and so on; a month is as good as ever. */
enum { SPANS = 32 };

const char *const pgk_plan_gain_names[PGK_PLAN_GAINS] = {
    [PGK_PLAN_GAIN_TOUCHED] = "pages touched per pass over the objects of a group",
    [PGK_PLAN_GAIN_KEPT] = "pages still held at the end",
    [PGK_PLAN_GAIN_HELD] = "pages still held after bursts",
    [PGK_PLAN_GAIN_HOT] = "pages of often accessed objects",
};

struct parts {
    enum pgk_plan_gain gain;
    double mean;      /* accesses for each byte */
    uint64_t span_ms; /* after which what does not live longer is free */
};

/* Bytes of a context that are alive at the end or live on, or that are accessed more often than the
 * mean. */
static uint64_t part_of(const struct pgk_plan_context *c, const struct parts *parts)
{
    const uint64_t kept = c->kept < c->peak ? c->kept : c->peak;
    if (parts->gain == PGK_PLAN_GAIN_KEPT)
        return kept;
    if (parts->gain == PGK_PLAN_GAIN_HELD)
        return pgk_plan_lives_longer(c->lifetime_ms, parts->span_ms) ? c->peak : kept;
    return c->total && (double)c->accesses / (double)c->total >= parts->mean ? c->peak : 0;
}

/* Bytes of pages with a part, scattered within a group; or, `group` UINT32_MAX, within all. */
static uint64_t pages_with(const struct pgk_plan *plan, const struct parts *parts, uint32_t group)
{
    uint64_t all[PGK_PLAN_CLASSES] = {0}, part[PGK_PLAN_CLASSES] = {0};
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->reason == PGK_PLAN_LARGE || (group != UINT32_MAX && c->group != group))
            continue;
        pgk_plan_add_to_classes(all, c, c->peak);
        pgk_plan_add_to_classes(part, c, part_of(c, parts));
    }
    return pgk_plan_scattered(all, part);
}

static struct pgk_plan_expected pages_of_parts(const struct pgk_plan *plan,
                                               const struct parts *parts)
{
    struct pgk_plan_expected e = {.without = pages_with(plan, parts, UINT32_MAX)};
    for (uint32_t g = 0; g < plan->n_groups; g++)
        e.with += pages_with(plan, parts, g);
    return e;
}

uint64_t pgk_plan_spared(const struct pgk_plan *plan, uint64_t span_ms)
{
    const struct parts parts = {.gain = PGK_PLAN_GAIN_HELD, .span_ms = span_ms};
    const struct pgk_plan_expected e = pages_of_parts(plan, &parts);
    return e.without > e.with ? e.without - e.with : 0;
}

uint64_t pgk_plan_span_ms(const struct pgk_plan *plan)
{
    uint64_t best = UINT32_MAX, most = pgk_plan_spared(plan, best); /* what is alive at the end */
    for (int i = 0; i < SPANS && UINT64_C(1) << i <= plan->run_ms; i++) {
        const uint64_t spared = pgk_plan_spared(plan, UINT64_C(1) << i);
        if (spared <= most)
            continue;
        most = spared;
        best = UINT64_C(1) << i;
    }
    return best;
}

bool pgk_plan_knows_gain(const struct pgk_plan *plan, enum pgk_plan_gain gain)
{
    return gain == PGK_PLAN_GAIN_TOUCHED ||
           (gain == PGK_PLAN_GAIN_HOT ? plan->knows_accesses : plan->knows_peak);
}

struct pgk_plan_expected pgk_plan_expect(const struct pgk_plan *plan, enum pgk_plan_gain gain)
{
    struct pgk_plan_expected e = {0};
    if (gain != PGK_PLAN_GAIN_TOUCHED) {
        const struct parts parts = {gain, pgk_plan_mean_density(plan), pgk_plan_span_ms(plan)};
        return pages_of_parts(plan, &parts);
    }
    for (uint32_t g = 1; g < plan->n_groups; g++) {
        const struct pgk_plan_pages pages = pgk_plan_pages_of(plan, g);
        e.with += pages.apart;
        e.without += pages.scattered;
    }
    return e;
}
