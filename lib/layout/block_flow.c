/* How control went from block to block. docs/formats/propeller.md section 3 */
#include "block_flow.h"

#include "saturate.h"

#include <stdlib.h>

/* Places are positions in `by_address` of the map. */
struct counter {
    struct pgk_block_flow *flow;
    const struct pgk_block_map *map;
    uint64_t *fallen;  /* by place: how often control fell from there to the next one */
    uint64_t *entered; /* by place: ranges that begin with the block, less jumps to it */
};

static uint32_t block_at(const struct counter *c, size_t place)
{
    return c->map->by_address.v[place];
}

static const struct pgk_map_block *at(const struct counter *c, size_t place)
{
    return &c->map->blocks.v[block_at(c, place)];
}

static void add(uint64_t *sum, uint64_t count)
{
    *sum = pgk_add_saturated(*sum, count);
}

static void note_ran(const struct counter *c, size_t place)
{
    uint64_t *count = &c->flow->counts[block_at(c, place)];
    *count = *count ? *count : 1;
}

/* ---- code between two branches ---- */

static bool follows(const struct counter *c, size_t place)
{
    return place + 1 < c->map->by_address.n && at(c, place + 1)->function == at(c, place)->function;
}

static void count_range(struct counter *c, const struct pgk_pair *r)
{
    size_t place = pgk_block_map_at(c->map, r->from);
    if (place == SIZE_MAX)
        return;
    if (at(c, place)->low == r->from) {
        add(&c->flow->counts[block_at(c, place)], r->count);
        add(&c->entered[place], r->count);
    } else {
        note_ran(c, place);
    }
    for (; follows(c, place) && at(c, place + 1)->low <= r->to; place++) {
        add(&c->fallen[place], r->count);
        add(&c->flow->counts[block_at(c, place + 1)], r->count);
    }
}

/* ---- branches ---- */

/* Blocks without bytes before the target: a jump leads to the first of them. */
static void fall_to_code(struct counter *c, size_t place, uint64_t count)
{
    for (; !at(c, place)->size && follows(c, place); place++)
        add(&c->fallen[place], count);
}

static bool count_branch(struct counter *c, const struct pgk_pair *b)
{
    size_t from = pgk_block_map_holds(c->map, b->from), to = pgk_block_map_at(c->map, b->to);
    if (from == SIZE_MAX || to == SIZE_MAX)
        return true;
    const struct pgk_map_block *source = at(c, from), *target = at(c, to);
    note_ran(c, from);
    note_ran(c, to);
    bool enters =
        target->low == c->map->functions.v[target->function].entry && target->low == b->to;
    if (enters && target->function != source->function)
        return pgk_vec_push(&c->flow->calls,
                            (struct pgk_block_call){block_at(c, from), target->function,
                                                    b->from - source->low, b->count});
    if (enters || target->function != source->function || target->low != b->to ||
        source->flags & PGK_BLOCK_RETURNS)
        return true;
    c->entered[to] = c->entered[to] > b->count ? c->entered[to] - b->count : 0;
    add(&c->flow->taken, b->count);
    fall_to_code(c, to, b->count);
    return pgk_vec_push(&c->flow->jumps,
                        (struct pgk_tsp_jump){block_at(c, from), block_at(c, to), b->count});
}

/* Where a block ends with a call, control comes to the next one from what was called. */
static void count_returns(struct counter *c)
{
    for (size_t i = 1; i < c->map->by_address.n; i++) {
        const struct pgk_map_block *before = at(c, i - 1), *b = at(c, i);
        if (follows(c, i - 1) && before->flags & PGK_BLOCK_FALLS_THROUGH &&
            before->low + before->size == b->low && !(b->flags & PGK_BLOCK_LANDING_PAD) &&
            b->low != c->map->functions.v[b->function].entry)
            add(&c->fallen[i - 1], c->entered[i]);
    }
}

/* ---- all of it ---- */

static bool add_fallen(struct counter *c)
{
    for (size_t i = 0; i + 1 < c->map->by_address.n; i++) {
        struct pgk_tsp_jump j = {block_at(c, i), block_at(c, i + 1), c->fallen[i]};
        add(&c->flow->fallen, j.count);
        if (j.count && !pgk_vec_push(&c->flow->jumps, j))
            return false;
    }
    return true;
}

static int compare_jumps(const void *a, const void *b)
{
    const struct pgk_tsp_jump *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void merge_jumps(struct pgk_block_flow *f)
{
    size_t n = 0;
    if (f->jumps.n)
        qsort(f->jumps.v, f->jumps.n, sizeof *f->jumps.v, compare_jumps);
    for (size_t i = 0; i < f->jumps.n; i++) {
        if (n && !compare_jumps(&f->jumps.v[n - 1], &f->jumps.v[i]))
            add(&f->jumps.v[n - 1].count, f->jumps.v[i].count);
        else
            f->jumps.v[n++] = f->jumps.v[i];
    }
    f->jumps.n = n;
}

bool pgk_block_flow_count(struct pgk_block_flow *flow, const struct pgk_block_map *map,
                          const struct pgk_pairs *ranges, const struct pgk_pairs *branches)
{
    const size_t n = map->by_address.n;
    *flow =
        (struct pgk_block_flow){.map = map, .counts = pgk_mem_zalloc(n + 1, sizeof *flow->counts)};
    struct counter c = {flow, map, pgk_mem_zalloc(n + 1, sizeof *c.fallen),
                        pgk_mem_zalloc(n + 1, sizeof *c.entered)};
    bool ok = flow->counts && c.fallen && c.entered;
    for (size_t i = 0; ok && i < ranges->list.n; i++)
        count_range(&c, &ranges->list.v[i]);
    for (size_t i = 0; ok && i < branches->list.n; i++)
        ok = count_branch(&c, &branches->list.v[i]);
    if (ok)
        count_returns(&c);
    ok = ok && add_fallen(&c);
    if (ok)
        merge_jumps(flow);
    pgk_mem_free(c.fallen);
    pgk_mem_free(c.entered);
    if (!ok)
        pgk_block_flow_free(flow);
    return ok;
}

void pgk_block_flow_free(struct pgk_block_flow *flow)
{
    pgk_mem_free(flow->counts);
    pgk_vec_free(&flow->jumps);
    pgk_vec_free(&flow->calls);
    flow->counts = NULL;
}
