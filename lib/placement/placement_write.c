/* Writes a plan: docs/formats/placement-plan.md. */
#include "placement.h"

#include "sink.h"

static void add_group(const struct pgk_plan *plan, uint32_t group, struct pgk_sink *s)
{
    struct pgk_placement_group g = {0};
    uint64_t lifetimes = 0;
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->group != group)
            continue;
        g.contexts++;
        g.bytes += c->peak;
        g.objects += c->objects;
        lifetimes += c->lifetime_ms * c->objects;
    }
    g.lifetime_ms = g.objects ? lifetimes / g.objects : 0;
    g.flags = pgk_plan_is_cold(plan, group) ? PGK_PLACEMENT_COLD : 0;
    g.flags |= pgk_plan_is_hot(plan, group) ? PGK_PLACEMENT_HOT : 0;
    pgk_sink_bytes(s, &g, sizeof g);
}

/* Everything after the header, which has its sum. */
static void write_rest(const struct pgk_plan *plan, struct pgk_sink *s)
{
    pgk_sink_bytes(s, plan->modules.v, plan->modules.n * sizeof *plan->modules.v);
    for (uint32_t g = 0; g < plan->n_groups; g++)
        add_group(plan, g, s);
    pgk_sink_bytes(s, plan->nodes.v, plan->nodes.n * sizeof *plan->nodes.v);
}

int pgk_plan_write(const struct pgk_plan *plan, const char *path, struct pgk_err *err)
{
    struct pgk_placement_header h = {
        .magic = PGK_PLACEMENT_MAGIC,
        .version = PGK_PLACEMENT_VERSION,
        .n_modules = (uint32_t)plan->modules.n,
        .n_groups = plan->n_groups,
        .n_nodes = (uint32_t)plan->nodes.n,
    };
    struct pgk_sink *rest, *file;
    size_t size;
    PGK_TRY(pgk_sink_memory(&rest, err));
    write_rest(plan, rest);
    const uint8_t *bytes = pgk_sink_data(rest, &size);
    int status = bytes ? pgk_sink_open(&file, path, err) : pgk_fail_nomem(err);
    if (!status) {
        h.checksum = pgk_placement_sum(bytes, size);
        pgk_sink_bytes(file, &h, sizeof h);
        pgk_sink_bytes(file, bytes, size);
        status = pgk_sink_commit(&file, err);
    }
    pgk_sink_drop(&rest);
    return status;
}
