/* A plan for the report page: its groups, what is expected of them, and what they held. */
#include "placement.h"

#include "json_out.h"

enum { SHOWN = 20 }; /* contexts of a group */

static void put_contexts(const struct pgk_plan *plan, uint32_t group, struct pgk_json *j)
{
    size_t shown = 0;
    pgk_json_array(j, "members");
    for (size_t i = 0; i < plan->contexts.n && shown < SHOWN; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->group != group)
            continue;
        pgk_json_object(j, NULL);
        pgk_json_text(j, "names", c->names);
        pgk_json_number(j, "peak", c->peak);
        pgk_json_number(j, "lifetime", c->lifetime_ms);
        if (plan->knows_accesses)
            pgk_json_digits(j, "density",
                            c->total ? (double)c->accesses / (double)c->total : 0.0, 6);
        if (!group)
            pgk_json_text(j, "why", pgk_plan_reason_text(c->reason));
        pgk_json_end_object(j);
        shown++;
    }
    pgk_json_end_array(j);
}

static void put_held(const struct pgk_plan *plan, uint32_t group, struct pgk_json *j)
{
    if (!plan->knows_held || !group)
        return;
    pgk_json_object(j, "held");
    pgk_json_number(j, "objects", plan->held[group].objects);
    pgk_json_number(j, "pages", plan->held[group].pages);
    pgk_json_number(j, "empty", plan->held[group].empty);
    pgk_json_end_object(j);
}

static void put_group(const struct pgk_plan *plan, uint32_t group, struct pgk_json *j)
{
    const struct pgk_plan_pages pages = pgk_plan_pages_of(plan, group);
    uint64_t contexts = 0, objects = 0, peak = 0, lifetimes = 0;
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->group != group)
            continue;
        contexts++;
        objects += c->objects;
        peak += c->peak;
        lifetimes += c->lifetime_ms * c->objects;
    }
    pgk_json_object(j, NULL);
    pgk_json_number(j, "group", group);
    pgk_json_flag(j, "cold", pgk_plan_is_cold(plan, group));
    pgk_json_flag(j, "hot", pgk_plan_is_hot(plan, group));
    pgk_json_number(j, "contexts", contexts);
    pgk_json_number(j, "objects", objects);
    pgk_json_number(j, "peak", peak);
    pgk_json_number(j, "lifetime", objects ? lifetimes / objects : 0);
    pgk_json_number(j, "scattered", pages.scattered);
    pgk_json_number(j, "apart", pages.apart);
    put_held(plan, group, j);
    put_contexts(plan, group, j);
    pgk_json_end_object(j);
}

void pgk_plan_put(const struct pgk_plan *plan, struct pgk_json *j)
{
    pgk_json_object(j, "plan");
    pgk_json_number(j, "calls", plan->nodes.n - 1);
    pgk_json_array(j, "expected");
    for (enum pgk_plan_gain g = 0; g < PGK_PLAN_GAINS; g++) {
        const struct pgk_plan_expected e = pgk_plan_expect(plan, g);
        if (!pgk_plan_knows_gain(plan, g))
            continue;
        pgk_json_object(j, NULL);
        pgk_json_text(j, "what", pgk_plan_gain_names[g]);
        pgk_json_number(j, "with", e.with);
        pgk_json_number(j, "without", e.without);
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
    pgk_json_array(j, "groups");
    for (uint32_t g = 1; g < plan->n_groups; g++)
        put_group(plan, g, j);
    put_group(plan, 0, j);
    pgk_json_end_array(j);
    pgk_json_end_object(j);
}
