/* The control-flow graph of a function, read off its instructions. */
#include "flow_graph.h"

#include "jump_table.h"
#include "machine.h"
#include "search.h"
#include "u64_set.h"

#include <elf.h>

struct reader {
    struct pgk_flow_graph *g;
    struct pgk_code *code;
    const struct pgk_functions *f;
    const struct pgk_function *function;
    bool has_indirect;
    pgk_addr_vec table_targets;
    struct pgk_arm64_jumps jumps;
};

static const struct pgk_function_range *range_of(const struct reader *r, uint32_t number)
{
    return &r->f->ranges.v[r->f->by_function.v[r->function->first + number]];
}

static bool is_inside(const void *ctx, uint64_t addr)
{
    const struct reader *r = ctx;
    for (uint32_t i = 0; i < r->function->n; i++)
        if (addr >= range_of(r, i)->low && addr < range_of(r, i)->high)
            return true;
    return false;
}

/* ---- leaders ---- */

static bool add_leader(struct reader *r, uint64_t addr)
{
    return pgk_vec_push(&r->g->leaders, addr);
}

static bool is_direct(const struct pgk_insn *insn)
{
    return !insn->indirect && (insn->kind == PGK_INSN_JUMP || insn->kind == PGK_INSN_COND);
}

static bool list_table_targets(struct reader *r, const struct pgk_insn *insn)
{
    if (!r->code->decoder.machine->table_operand)
        return pgk_jump_table_step(r->code, &r->jumps, insn->addr, is_inside, r,
                                   &r->table_targets);
    return !insn->data ||
           pgk_jump_table_read(r->code, insn->data, is_inside, r, &r->table_targets);
}

static bool list_leaders_of(struct reader *r, const struct pgk_function_range *range)
{
    struct pgk_insn insn;
    bool leads = true;
    for (uint64_t at = range->low; at < range->high; at += insn.length) {
        if (!pgk_code_insn(r->code, at, &insn)) {
            insn.length = 1;
            leads = true;
            continue;
        }
        if (leads && !add_leader(r, at))
            return false;
        if (is_direct(&insn) && is_inside(r, insn.target) && !add_leader(r, insn.target))
            return false;
        if (!list_table_targets(r, &insn))
            return false;
        r->has_indirect |= insn.kind == PGK_INSN_JUMP && insn.indirect;
        leads = insn.kind != PGK_INSN_OTHER && insn.kind != PGK_INSN_CALL;
    }
    return true;
}

static bool list_leaders(struct reader *r)
{
    r->g->leaders.n = 0;
    for (uint32_t i = 0; i < r->function->n; i++)
        if (!list_leaders_of(r, range_of(r, i)))
            return false;
    r->table_targets.n = r->has_indirect && r->table_targets.n
                             ? pgk_u64_set(r->table_targets.v, r->table_targets.n)
                             : 0;
    for (size_t i = 0; i < r->table_targets.n; i++)
        if (!add_leader(r, r->table_targets.v[i]))
            return false;
    r->g->leaders.n = pgk_u64_set(r->g->leaders.v, r->g->leaders.n);
    return true;
}

/* ---- blocks ---- */

static bool add_block(struct reader *r, size_t leader)
{
    struct pgk_flow_graph *g = r->g;
    uint64_t at = g->leaders.v[leader];
    uint64_t next = leader + 1 < g->leaders.n ? g->leaders.v[leader + 1] : UINT64_MAX;
    const struct pgk_function_range *range = pgk_functions_at(r->f, at);
    uint64_t high = range && range->high < next ? range->high : next;
    struct pgk_flow_place p = {.low = at, .last = at};
    for (uint8_t mark; at < high && (mark = pgk_code_mark(r->code, at)) != 0;
         at += mark & PGK_CODE_LENGTH) {
        p.last = at;
        p.n++;
    }
    p.high = at;
    return pgk_vec_push(&g->places, p) &&
           pgk_vec_push(&g->blocks, (struct pgk_flow_block){0});
}

static uint32_t block_at(const struct pgk_flow_graph *g, uint64_t addr)
{
    uint32_t i = pgk_flow_graph_find(g, addr);
    return i != UINT32_MAX && g->places.v[i].low == addr ? i : UINT32_MAX;
}

static bool add_edge(struct reader *r, uint32_t from, uint32_t to)
{
    return pgk_vec_push(&r->g->edges, (struct pgk_flow_edge){.from = from, .to = to});
}

static bool add_edges_of(struct reader *r, uint32_t i, uint32_t hub)
{
    struct pgk_flow_graph *g = r->g;
    const struct pgk_flow_place *p = &g->places.v[i];
    struct pgk_insn insn;
    uint32_t to;
    if (!p->n || !pgk_code_insn(r->code, p->last, &insn)) {
        g->blocks.v[i].is_exit = true;
        return true;
    }
    if (insn.kind == PGK_INSN_JUMP && insn.indirect)
        return add_edge(r, i, hub);
    if (is_direct(&insn)) {
        to = block_at(g, insn.target);
        if (to == UINT32_MAX)
            g->blocks.v[i].is_exit = true; /* a tail call */
        else if (!add_edge(r, i, to))
            return false;
    }
    if (!pgk_insn_falls_through(&insn)) {
        g->blocks.v[i].is_exit |= insn.kind != PGK_INSN_JUMP;
        return true;
    }
    to = block_at(g, p->high);
    g->blocks.v[i].is_exit |= to == UINT32_MAX; /* a call that does not return */
    return to == UINT32_MAX || add_edge(r, i, to);
}

/* Blocks without a path to them are reached by indirect jumps, or from outside, such as blocks
 * where exceptions are caught. */
static bool place_orphans(struct reader *r, uint32_t hub)
{
    struct pgk_flow_graph *g = r->g;
    bool *known = pgk_mem_zalloc(hub + 1, sizeof *known);
    bool ok = known, any = false;
    for (size_t i = 0; ok && i < g->edges.n; i++)
        known[g->edges.v[i].to] = true;
    for (size_t i = 0; ok && i < r->table_targets.n; i++) {
        uint32_t to = block_at(g, r->table_targets.v[i]);
        if (to == UINT32_MAX)
            continue;
        any = known[to] = true;
        ok = add_edge(r, hub, to);
    }
    for (uint32_t i = 0; ok && i < hub; i++) {
        if (known[i] || g->blocks.v[i].is_entry)
            continue;
        if (r->has_indirect)
            ok = add_edge(r, hub, i);
        any |= r->has_indirect;
        g->blocks.v[i].is_entry = !r->has_indirect;
    }
    g->blocks.v[hub].is_exit = !any;
    pgk_mem_free(known);
    return ok;
}

/* Changing a block's count by one belies as many samples as it has instructions. */
static uint32_t cost_of(const struct pgk_flow_place *p)
{
    enum { HIGHEST = 32 };
    return p->n < HIGHEST ? p->n : HIGHEST;
}

/* Where a function is entered; without a symbol, where it starts. */
static uint64_t entry_of(const struct reader *r)
{
    for (uint32_t i = 0; i < r->function->n; i++)
        if (range_of(r, i)->is_entry)
            return range_of(r, i)->low;
    return range_of(r, 0)->low;
}

static bool make(struct reader *r)
{
    struct pgk_flow_graph *g = r->g;
    if (!list_leaders(r))
        return false;
    for (size_t i = 0; i < g->leaders.n; i++)
        if (!add_block(r, i))
            return false;
    uint32_t hub = (uint32_t)g->blocks.n;
    if (!pgk_vec_push(&g->blocks, (struct pgk_flow_block){0}))
        return false;
    g->entry = block_at(g, entry_of(r));
    if (g->entry == UINT32_MAX) /* no code */
        g->entry = hub;
    g->blocks.v[g->entry].is_entry = true;
    for (uint32_t i = 0; i < hub; i++) {
        g->blocks.v[i].cost = cost_of(&g->places.v[i]);
        if (!add_edges_of(r, i, hub))
            return false;
    }
    return place_orphans(r, hub);
}

int pgk_flow_graph_make(struct pgk_flow_graph *graph, struct pgk_code *code,
                        const struct pgk_functions *functions, uint32_t function,
                        struct pgk_err *err)
{
    struct reader r = {.g = graph,
                       .code = code,
                       .f = functions,
                       .function = &functions->functions.v[function]};
    graph->places.n = graph->blocks.n = graph->edges.n = 0;
    bool ok = make(&r);
    pgk_vec_free(&r.table_targets);
    return ok ? 0 : pgk_fail_nomem(err);
}

uint32_t pgk_flow_graph_find(const struct pgk_flow_graph *g, uint64_t addr)
{
    /* the first block that ends after `addr` */
    PGK_SEARCH(low, g->places.n, mid, g->places.v[mid].high <= addr)
    return low < g->places.n && g->places.v[low].low <= addr ? (uint32_t)low : UINT32_MAX;
}

void pgk_flow_graph_free(struct pgk_flow_graph *graph)
{
    pgk_vec_free(&graph->places);
    pgk_vec_free(&graph->blocks);
    pgk_vec_free(&graph->edges);
    pgk_vec_free(&graph->leaders);
}
