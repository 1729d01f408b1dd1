/* A new order of the code of a binary. docs/formats/propeller.md section 4 */
#include "block_order.h"

#include "saturate.h"

struct maker {
    struct pgk_block_order *o;
    const struct pgk_block_flow *flow;
    const struct pgk_block_map *map;
    uint32_t *local;    /* by block: number among those of its function that ran */
    uint64_t *place;    /* by block: offset in its function, in the new order */
    uint32_t *position; /* by function of the map: in o->functions; PGK_BLOCK_NONE: it did not
                         * run */
    size_t next_jump;   /* jumps and functions ascend alike */
    PGK_VEC(struct pgk_tsp_block) blocks; /* of the function in hand */
    PGK_VEC(struct pgk_tsp_jump) jumps;
    PGK_VEC(uint32_t) listed; /* blocks of the map */
    pgk_layout_list order;
};

/* ---- blocks of a function ---- */

static bool ran(const struct maker *m, const struct pgk_map_function *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (m->flow->counts[f->first + i])
            return true;
    return false;
}

/* The entry, which is the first, is in front whatever was seen of it. */
static bool list_blocks(struct maker *m, const struct pgk_map_function *f)
{
    m->blocks.n = m->listed.n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t b = f->first + i;
        m->local[b] = PGK_BLOCK_NONE;
        if (i && !m->flow->counts[b])
            continue;
        m->local[b] = (uint32_t)m->listed.n;
        struct pgk_tsp_block block = {m->map->blocks.v[b].size, m->flow->counts[b]};
        if (!pgk_vec_push(&m->blocks, block) || !pgk_vec_push(&m->listed, b))
            return false;
    }
    return true;
}

static bool list_jumps(struct maker *m, const struct pgk_map_function *f)
{
    m->jumps.n = 0;
    for (; m->next_jump < m->flow->jumps.n; m->next_jump++) {
        const struct pgk_tsp_jump *j = &m->flow->jumps.v[m->next_jump];
        if (j->from >= f->first + f->n)
            break;
        if (j->from < f->first || m->local[j->from] == PGK_BLOCK_NONE ||
            m->local[j->to] == PGK_BLOCK_NONE)
            continue;
        struct pgk_tsp_jump new = {m->local[j->from], m->local[j->to], j->count};
        if (!pgk_vec_push(&m->jumps, new))
            return false;
    }
    return true;
}

static bool score_now(struct maker *m, const struct pgk_tsp_graph *g)
{
    uint64_t *at = pgk_mem_alloc(g->n + 1, sizeof *at);
    for (size_t i = 0; at && i < g->n; i++)
        at[i] = m->map->blocks.v[m->listed.v[i]].low;
    if (at)
        m->o->score_now += pgk_ext_tsp_score_at(at, g);
    pgk_mem_free(at);
    return at;
}

/* Places its blocks in their new order, and counts the jumps that are then taken. */
static bool take_order(struct maker *m, uint32_t function, const struct pgk_tsp_graph *g)
{
    struct pgk_block_order *o = m->o;
    struct pgk_ordered_function new = {function, (uint32_t)o->blocks.n, (uint32_t)m->order.n, 0};
    if (!pgk_vec_reserve(&o->blocks, m->order.n))
        return false;
    for (size_t i = 0; i < m->order.n; i++) {
        uint32_t b = m->listed.v[m->order.v[i]];
        o->blocks.v[o->blocks.n++] = b;
        m->place[b] = new.size;
        new.size += m->map->blocks.v[b].size;
    }
    for (size_t i = 0; i < g->n_jumps; i++) {
        const struct pgk_tsp_jump *j = &g->jumps[i];
        uint32_t from = m->listed.v[j->from], to = m->listed.v[j->to];
        o->all = pgk_add_saturated(o->all, j->count);
        if (m->place[from] + m->map->blocks.v[from].size != m->place[to] || from == to)
            o->taken = pgk_add_saturated(o->taken, j->count);
    }
    m->position[function] = (uint32_t)o->functions.n;
    return pgk_vec_push(&o->functions, new);
}

static bool order_function(struct maker *m, uint32_t function)
{
    const struct pgk_map_function *f = &m->map->functions.v[function];
    double score;
    m->order.n = 0;
    if (!ran(m, f))
        return true;
    if (!list_blocks(m, f) || !list_jumps(m, f))
        return false;
    struct pgk_tsp_graph g = {m->blocks.v, m->blocks.n, m->jumps.v, m->jumps.n};
    if (!score_now(m, &g) || !pgk_ext_tsp_order(&m->order, &g) ||
        !pgk_ext_tsp_score(&score, m->order.v, m->order.n, &g))
        return false;
    m->o->score += score;
    return take_order(m, function, &g);
}

/* ---- functions ---- */

static bool order_functions(struct maker *m)
{
    struct pgk_block_order *o = m->o;
    struct pgk_call_graph graph = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < o->functions.n; i++) {
        const struct pgk_ordered_function *f = &o->functions.v[i];
        struct pgk_graph_function new = {.size = f->size ? f->size : 1};
        for (uint32_t k = 0; k < f->n; k++)
            new.count = pgk_add_saturated(new.count, m->flow->counts[o->blocks.v[f->first + k]]);
        ok = pgk_vec_push(&graph.functions, new);
    }
    for (size_t i = 0; ok && i < m->flow->calls.n; i++) {
        const struct pgk_block_call *c = &m->flow->calls.v[i];
        struct pgk_graph_call new = {m->position[m->map->blocks.v[c->from].function],
                                     m->position[c->to], m->place[c->from] + c->offset, c->count};
        ok = new.from == PGK_BLOCK_NONE || new.to == PGK_BLOCK_NONE ||
             pgk_vec_push(&graph.calls, new);
    }
    ok = ok && pgk_layout_order(&o->order, &graph);
    pgk_call_graph_free(&graph);
    return ok;
}

/* ---- all of it ---- */

static bool open_maker(struct maker *m, struct pgk_block_order *order,
                       const struct pgk_block_flow *flow)
{
    const struct pgk_block_map *map = flow->map;
    *m = (struct maker){.o = order,
                        .flow = flow,
                        .map = map,
                        .local = pgk_mem_zalloc(map->blocks.n + 1, sizeof *m->local),
                        .place = pgk_mem_zalloc(map->blocks.n + 1, sizeof *m->place),
                        .position = pgk_mem_alloc(map->functions.n + 1, sizeof *m->position)};
    for (size_t i = 0; m->position && i < map->functions.n; i++)
        m->position[i] = PGK_BLOCK_NONE;
    return m->local && m->place && m->position;
}

static void close_maker(struct maker *m)
{
    pgk_mem_free(m->local);
    pgk_mem_free(m->place);
    pgk_mem_free(m->position);
    pgk_vec_free(&m->blocks);
    pgk_vec_free(&m->jumps);
    pgk_vec_free(&m->listed);
    pgk_vec_free(&m->order);
}

bool pgk_block_order_make(struct pgk_block_order *order, const struct pgk_block_flow *flow)
{
    struct maker m;
    *order = (struct pgk_block_order){0};
    bool ok = open_maker(&m, order, flow);
    for (uint32_t i = 0; ok && i < flow->map->functions.n; i++)
        ok = order_function(&m, i);
    ok = ok && order_functions(&m);
    close_maker(&m);
    if (!ok)
        pgk_block_order_free(order);
    return ok;
}

void pgk_block_order_free(struct pgk_block_order *order)
{
    pgk_vec_free(&order->functions);
    pgk_vec_free(&order->blocks);
    pgk_vec_free(&order->order);
}
