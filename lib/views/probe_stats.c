/* Numbers about the pseudo probes of a program. */
#include "probe_stats.h"

#include "mem.h"
#include "vec.h"

#include <stdlib.h>

/* Probes ascend by node, so one walk over both meets them together. */
int pgk_probe_walk_nodes(const struct pgk_probe_index *index, pgk_probe_visit *visit, void *ctx,
                         struct pgk_err *err)
{
    size_t nodes = pgk_probe_node_count(index), probes = pgk_probe_count(index);
    uint32_t *depth = pgk_mem_alloc(nodes + 1, sizeof *depth);
    uint32_t at = 0;
    if (!depth)
        return pgk_fail_nomem(err);
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t parent = pgk_probe_parent(index, n), first = at;
        depth[n] = parent == PGK_PROBE_NONE ? 0 : depth[parent] + 1;
        while (at < probes && pgk_probe_get(index, at).node == n)
            at++;
        visit(ctx, n, depth[n], first, at - first);
    }
    pgk_mem_free(depth);
    return 0;
}

struct count {
    const struct pgk_probe_index *index;
    struct pgk_probe_stats *stats;
    uint8_t *seen; /* by descriptor: has code */
    PGK_VEC(uint32_t) numbers;
    bool no_memory;
};

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void count_node(void *ctx, uint32_t node, uint32_t depth, uint32_t first, uint32_t n)
{
    struct count *c = ctx;
    struct pgk_probe_stats *s = c->stats;
    uint32_t desc = pgk_probe_function(c->index, node);
    s->functions += !c->seen[desc];
    c->seen[desc] = 1;
    s->by_depth[depth < PGK_PROBE_DEPTHS ? depth : PGK_PROBE_DEPTHS - 1] += n;
    if (depth > s->deepest)
        s->deepest = depth;
    c->numbers.n = 0;
    for (uint32_t i = first; i < first + n; i++) {
        struct pgk_probe p = pgk_probe_get(c->index, i);
        s->by_type[p.type]++;
        if (!pgk_vec_push(&c->numbers, p.index))
            c->no_memory = true;
    }
    if (n > 1 && !c->no_memory)
        qsort(c->numbers.v, n, sizeof *c->numbers.v, compare_u32);
    for (size_t i = 0; i < c->numbers.n; i++)
        s->duplicated += (i && c->numbers.v[i] == c->numbers.v[i - 1]) ||
                         (i + 1 < c->numbers.n && c->numbers.v[i] == c->numbers.v[i + 1]);
}

int pgk_probe_stats(const struct pgk_probes *probes, const struct pgk_probe_index *index,
                    struct pgk_probe_stats *stats, struct pgk_err *err)
{
    size_t n = pgk_probe_descs(probes);
    struct count c = {.index = index, .stats = stats, .seen = pgk_mem_zalloc(n + 1, 1)};
    if (!c.seen)
        return pgk_fail_nomem(err);
    *stats = (struct pgk_probe_stats){.totals = pgk_probes_totals(probes)};
    for (uint32_t i = 0; i < n; i++)
        stats->described += pgk_probe_desc_by_guid(probes, pgk_probe_desc_at(probes, i).guid) == i;
    int status = pgk_probe_walk_nodes(index, count_node, &c, err);
    if (!status && c.no_memory)
        status = pgk_fail_nomem(err);
    pgk_mem_free(c.seen);
    pgk_vec_free(&c.numbers);
    return status;
}
