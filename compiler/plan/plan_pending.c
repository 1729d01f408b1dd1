/* Decides where counts of accesses through one pointer are added to memory: partial redundancy
 * elimination of stores, with counts in registers around loops. */
#include "plan_pending.h"

#include "plan_memory.h"

/* More would only push each other out of registers. */
enum { MOST_CARRIED = 3, MOST_BLOCKS = 2000 };

void pgc_flow_open(struct pgc_flow *f, uint32_t blocks)
{
    *f = (struct pgc_flow){0};
    pgc_graph_open(&f->graph, blocks);
    f->segments = pgc_zeroed(blocks, sizeof *f->segments);
    f->open = pgc_zeroed(blocks, sizeof *f->open);
    f->carried = pgc_zeroed(blocks, sizeof *f->carried);
}

void pgc_flow_close(struct pgc_flow *f)
{
    pgc_graph_close(&f->graph);
    free(f->segments);
    free(f->open);
    free(f->carried);
}

static void clear(struct pgc_plan *p)
{
    for (uint32_t i = 0; i < p->n_listed; i++)
        p->of[p->list[i]] = (struct pgc_block_plan){.head = PGC_NONE, .tail = PGC_NONE};
    p->n_listed = 0;
    p->n_updates = 0;
}

void pgc_plan_open(struct pgc_plan *p, struct pgc_flow *flow)
{
    uint32_t blocks = flow->graph.blocks;
    *p = (struct pgc_plan){.flow = flow};
    p->of = pgc_zeroed(blocks, sizeof *p->of);
    p->list = pgc_zeroed(blocks, sizeof *p->list);
    while (p->n_listed < blocks) {
        p->list[p->n_listed] = p->n_listed;
        p->n_listed++;
    }
    clear(p);
}

void pgc_plan_close(struct pgc_plan *p)
{
    free(p->of);
    free(p->list);
    free(p->updates);
}

static bool is_clear(const struct pgc_plan *p, uint32_t block)
{
    return p->flow->segments[block] == 1;
}

/* Counts may be pending on the edge. */
static bool is_passable(const struct pgc_plan *p, const struct pgc_edge *edge)
{
    const struct pgc_graph *g = &p->flow->graph;
    return pgc_reached(g, edge->from) && p->flow->open[edge->from] &&
           (!edge->retreats || edge->closes);
}

static void list(struct pgc_plan *p, uint32_t block)
{
    if (!p->of[block].listed)
        p->list[p->n_listed++] = block;
    p->of[block].listed = true;
}

static void put_groups(struct pgc_plan *p)
{
    for (uint32_t i = 0; i < p->n_groups; i++) {
        const struct pgc_group *group = &p->groups[i];
        struct pgc_block_plan *b = &p->of[group->block];
        list(p, group->block);
        if (group->segment == 0)
            b->head = i;
        if (group->segment + 1 == p->flow->segments[group->block])
            b->tail = i;
    }
}

/* Nothing is wanted: each count is written in its block. The first `own` blocks have groups. */
static void give_up(struct pgc_plan *p, uint32_t own)
{
    for (uint32_t i = 0; i < p->n_listed; i++)
        p->of[p->list[i]].wanted_in = p->of[p->list[i]].wanted_out = false;
    while (p->n_listed > own)
        p->of[p->list[--p->n_listed]].listed = false;
}

/* Marks, backwards from groups, where a group may follow before a barrier. Where the pointer comes
 * from, another one was before. */
static void find_wanted(struct pgc_plan *p)
{
    const struct pgc_graph *g = &p->flow->graph;
    for (uint32_t i = 0; i < p->n_listed; i++)
        p->of[p->list[i]].wanted_in =
            p->of[p->list[i]].head != PGC_NONE && p->list[i] != p->home;
    uint32_t own = p->n_listed;
    for (uint32_t i = 0; i < p->n_listed && p->n_listed <= MOST_BLOCKS; i++) {
        uint32_t b = p->list[i];
        for (uint32_t j = g->in[b]; p->of[b].wanted_in && j < g->in[b + 1] &&
                                    p->n_listed <= MOST_BLOCKS; j++) {
            const struct pgc_edge *edge = &g->edges[g->into[j]];
            if (!is_passable(p, edge))
                continue;
            list(p, edge->from);
            p->of[edge->from].wanted_out = true;
            /* Listed only now, it comes later in this loop; with a group, it was wanted before. */
            if (is_clear(p, edge->from) && edge->from != p->home)
                p->of[edge->from].wanted_in = true;
        }
    }
    if (p->n_listed > MOST_BLOCKS)
        give_up(p, own);
}

/* Shell sort by place in reverse postorder. */
static void sort_list(struct pgc_plan *p)
{
    const uint32_t *place = p->flow->graph.place;
    for (uint32_t gap = p->n_listed / 2; gap; gap /= 2)
        for (uint32_t i = gap; i < p->n_listed; i++) {
            uint32_t b = p->list[i], j = i;
            for (; j >= gap && place[p->list[j - gap]] > place[b]; j -= gap)
                p->list[j] = p->list[j - gap];
            p->list[j] = b;
        }
}

static bool is_sure(const struct pgc_plan *p, uint32_t b)
{
    const struct pgc_graph *g = &p->flow->graph;
    const struct pgc_block_plan *plan = &p->of[b];
    if (!plan->wanted_in || plan->head != PGC_NONE)
        return plan->wanted_in;
    bool sure = p->flow->open[b];
    for (uint32_t e = g->out[b]; sure && e < g->out[b + 1]; e++)
        sure = is_passable(p, &g->edges[e]) && p->of[g->edges[e].to].sure_in;
    return sure;
}

static void find_sure(struct pgc_plan *p)
{
    for (uint32_t i = 0; i < p->n_listed; i++)
        p->of[p->list[i]].sure_in = p->of[p->list[i]].wanted_in;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = p->n_listed; i-- > 0;) {
            struct pgc_block_plan *plan = &p->of[p->list[i]];
            bool sure = is_sure(p, p->list[i]);
            changed |= sure != plan->sure_in;
            plan->sure_in = sure;
        }
    }
}

/* Whether counts are pending on all edges into a block, on some, on some that close a loop. */
struct arrivals {
    bool all_surely, some, around;
    bool is_header;
};

static struct arrivals arrivals_at(const struct pgc_plan *p, uint32_t b)
{
    const struct pgc_graph *g = &p->flow->graph;
    struct arrivals a = {.all_surely = true};
    for (uint32_t i = g->in[b]; i < g->in[b + 1]; i++) {
        const struct pgc_edge *edge = &g->edges[g->into[i]];
        if (!pgc_reached(g, edge->from))
            continue;
        enum pgc_pending out = is_passable(p, edge) ? p->of[edge->from].out : PGC_NOTHING;
        a.all_surely &= out == PGC_SURELY;
        a.some |= out != PGC_NOTHING;
        a.around |= edge->closes && out != PGC_NOTHING;
        a.is_header |= edge->closes;
    }
    return a;
}

/* Different counts meet in a register. That pays if an access follows on all paths, which then
 * writes both; and around a loop. Where nothing is pending on a path into a loop and no access need
 * follow in it, the count may be 0 when the loop is left. */
static enum pgc_pending pending_at(const struct pgc_plan *p, uint32_t b)
{
    if (!p->of[b].wanted_in)
        return PGC_NOTHING;
    struct arrivals a = arrivals_at(p, b);
    if (a.is_header && (!a.around || p->flow->carried[b] >= MOST_CARRIED))
        return PGC_NOTHING;
    if (a.all_surely)
        return PGC_SURELY;
    return a.some && (a.is_header || p->of[b].sure_in) ? PGC_PERHAPS : PGC_NOTHING;
}

static enum pgc_pending pending_after(const struct pgc_plan *p, uint32_t b)
{
    const struct pgc_block_plan *plan = &p->of[b];
    if (!plan->wanted_out)
        return PGC_NOTHING;
    if (plan->tail != PGC_NONE)
        return PGC_SURELY;
    return is_clear(p, b) ? plan->in : PGC_NOTHING;
}

/* From "surely" everywhere down to what holds. */
static void find_pending(struct pgc_plan *p)
{
    for (uint32_t i = 0; i < p->n_listed; i++) {
        struct pgc_block_plan *plan = &p->of[p->list[i]];
        plan->in = plan->wanted_in ? PGC_SURELY : PGC_NOTHING;
        plan->out = pending_after(p, p->list[i]);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < p->n_listed; i++) {
            struct pgc_block_plan *plan = &p->of[p->list[i]];
            enum pgc_pending in = pending_at(p, p->list[i]);
            /* Never up again, so that it ends. */
            in = in < plan->in ? in : plan->in;
            changed |= in != plan->in;
            plan->in = in;
            enum pgc_pending out = pending_after(p, p->list[i]);
            changed |= out != plan->out;
            plan->out = out;
        }
    }
}

bool pgc_flows(const struct pgc_plan *p, const struct pgc_edge *edge)
{
    return is_passable(p, edge) && p->of[edge->from].out != PGC_NOTHING &&
           p->of[edge->to].in != PGC_NOTHING;
}

#define UNSEEN (UINT32_MAX - 1)
enum { MOST_AMOUNT = 1 << 20 };

static uint32_t add_amounts(uint32_t a, uint32_t b)
{
    if (a >= UNSEEN)
        return a;
    return a + b < MOST_AMOUNT ? a + b : PGC_VARIES;
}

static uint32_t amount_at(const struct pgc_plan *p, uint32_t b)
{
    const struct pgc_graph *g = &p->flow->graph;
    if (p->of[b].in == PGC_NOTHING)
        return 0;
    uint32_t amount = UNSEEN;
    for (uint32_t i = g->in[b]; i < g->in[b + 1]; i++) {
        const struct pgc_edge *edge = &g->edges[g->into[i]];
        if (!pgc_reached(g, edge->from))
            continue;
        uint32_t arriving = pgc_flows(p, edge) ? p->of[edge->from].amount_out : 0;
        if (amount == UNSEEN)
            amount = arriving;
        else if (arriving != UNSEEN && arriving != amount)
            amount = PGC_VARIES;
    }
    return amount;
}

static uint32_t amount_after(const struct pgc_plan *p, uint32_t b)
{
    const struct pgc_block_plan *plan = &p->of[b];
    uint32_t own = plan->tail == PGC_NONE ? 0 : p->groups[plan->tail].weight;
    if (plan->out == PGC_NOTHING)
        return 0;
    return is_clear(p, b) ? add_amounts(plan->amount_in, own) : own;
}

/* Constants, if they are the same on all paths. */
static void find_amounts(struct pgc_plan *p)
{
    for (uint32_t i = 0; i < p->n_listed; i++)
        p->of[p->list[i]].amount_in = p->of[p->list[i]].amount_out = UNSEEN;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < p->n_listed; i++) {
            struct pgc_block_plan *plan = &p->of[p->list[i]];
            uint32_t in = amount_at(p, p->list[i]);
            /* A count that was found to vary stays variable. */
            plan->amount_in = plan->amount_in == PGC_VARIES ? PGC_VARIES : in;
            uint32_t out = amount_after(p, p->list[i]);
            changed |= in != plan->amount_in || out != plan->amount_out;
            plan->amount_out = out;
        }
    }
}

static void update(struct pgc_plan *p, enum pgc_place place, uint32_t index, uint32_t amount,
                   bool guarded)
{
    PGC_PUSH(p->updates, p->n_updates, p->capacity,
             (struct pgc_update){place, index, amount, guarded});
}

/* Something of what is pending at the end of the block goes on. */
static bool goes_on(const struct pgc_plan *p, uint32_t b)
{
    const struct pgc_graph *g = &p->flow->graph;
    bool on = false;
    for (uint32_t e = g->out[b]; e < g->out[b + 1]; e++)
        on |= pgc_flows(p, &g->edges[e]);
    return on;
}

static void update_groups(struct pgc_plan *p)
{
    for (uint32_t i = 0; i < p->n_groups; i++) {
        const struct pgc_group *group = &p->groups[i];
        const struct pgc_block_plan *plan = &p->of[group->block];
        if (i == plan->tail && goes_on(p, group->block))
            continue;
        uint32_t before = i == plan->head ? plan->amount_in : 0;
        update(p, PGC_AT_GROUP, i, add_amounts(before, group->weight), false);
    }
}

static void update_edges(struct pgc_plan *p, uint32_t b)
{
    const struct pgc_graph *g = &p->flow->graph;
    struct pgc_block_plan *plan = &p->of[b];
    bool guarded = plan->out == PGC_PERHAPS;
    if (plan->out == PGC_NOTHING || plan->amount_out == 0)
        return;
    if (!guarded && !goes_on(p, b)) {
        if (plan->tail == PGC_NONE) /* else it has been written there */
            update(p, PGC_AT_END, b, plan->amount_out, false);
        plan->out = PGC_NOTHING;
        return;
    }
    for (uint32_t e = g->out[b]; e < g->out[b + 1]; e++)
        if (!pgc_flows(p, &g->edges[e]))
            update(p, PGC_ON_EDGE, e, plan->amount_out, guarded);
}

void pgc_plan_make(struct pgc_plan *p, uint32_t home, const struct pgc_group *groups,
                   uint32_t n_groups)
{
    clear(p);
    p->home = home;
    p->groups = groups;
    p->n_groups = n_groups;
    put_groups(p);
    find_wanted(p);
    sort_list(p);
    find_sure(p);
    find_pending(p);
    find_amounts(p);
    update_groups(p);
    for (uint32_t i = 0; i < p->n_listed; i++) {
        uint32_t b = p->list[i];
        update_edges(p, b);
        if (p->flow->graph.loop[b] == b && p->of[b].amount_in == PGC_VARIES)
            p->flow->carried[b]++;
    }
}
