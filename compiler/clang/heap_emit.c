/* Writes the plan for a pointer: counts in registers, which meet in phi nodes where blocks do, and
 * updates of memory, some of them on edges. Addresses of updates go along with counts, unless the
 * pointer itself will do everywhere. */
#include "heap_emit.h"

#include "heap_pass.h"
#include "plan_memory.h"

#include <llvm/Config/llvm-config.h>

void pgc_emit_open(struct pgc_emit *e, struct pgc_counting *c, struct pgc_flow *flow,
                   const LLVMBasicBlockRef *blocks, struct pgc_map *numbers)
{
    *e = (struct pgc_emit){.c = c, .blocks = blocks, .numbers = numbers};
    pgc_plan_open(&e->plan, flow);
    e->edges = pgc_zeroed(flow->graph.n_edges, sizeof *e->edges);
    e->of = pgc_zeroed(flow->graph.blocks, sizeof *e->of);
}

static const struct pgc_graph *graph(const struct pgc_emit *e)
{
    return &e->plan.flow->graph;
}

/* ---- values ---- */

static LLVMValueRef add_phi(struct pgc_emit *e, uint32_t b)
{
    LLVMValueRef first = LLVMGetFirstInstruction(e->blocks[b]);
#if LLVM_VERSION_MAJOR >= 19
    LLVMPositionBuilderBeforeInstrAndDbgRecords(e->c->builder, first);
#else
    LLVMPositionBuilderBefore(e->c->builder, first);
#endif
    return LLVMBuildPhi(e->c->builder, e->c->word, "");
}

/* As many times as the one block names the other. */
static void add_incoming(struct pgc_emit *e, LLVMValueRef phi, const struct pgc_edge *edge,
                         LLVMValueRef value)
{
    LLVMBasicBlockRef from = e->blocks[edge->from];
    for (uint32_t i = 0; i < edge->times; i++)
        LLVMAddIncoming(phi, &value, &from, 1);
}

/* The only edge into a block; NULL: there are several. */
static const struct pgc_edge *only_edge(const struct pgc_emit *e, uint32_t b)
{
    const struct pgc_graph *g = graph(e);
    return g->in[b + 1] - g->in[b] == 1 ? &g->edges[g->into[g->in[b]]] : NULL;
}

static LLVMValueRef count_after(struct pgc_emit *e, uint32_t b);

static LLVMValueRef count_at(struct pgc_emit *e, uint32_t b)
{
    const struct pgc_graph *g = graph(e);
    LLVMValueRef *count = &e->of[b].count_in;
    if (e->plan.of[b].amount_in != PGC_VARIES)
        return pgc_word(e->c, e->plan.of[b].amount_in);
    if (*count)
        return *count;
    if (only_edge(e, b))
        return *count = count_after(e, only_edge(e, b)->from);
    *count = add_phi(e, b);
    for (uint32_t i = g->in[b]; i < g->in[b + 1]; i++) {
        const struct pgc_edge *edge = &g->edges[g->into[i]];
        add_incoming(e, *count, edge,
                     pgc_flows(&e->plan, edge) ? count_after(e, edge->from)
                                               : pgc_word(e->c, 0));
    }
    return *count;
}

static LLVMValueRef count_after(struct pgc_emit *e, uint32_t b)
{
    const struct pgc_block_plan *plan = &e->plan.of[b];
    LLVMValueRef *count = &e->of[b].count_out;
    if (plan->amount_out != PGC_VARIES)
        return pgc_word(e->c, plan->amount_out);
    if (!*count) {
        *count = count_at(e, b);
        if (plan->tail != PGC_NONE) {
            LLVMPositionBuilderBefore(e->c->builder, LLVMGetBasicBlockTerminator(e->blocks[b]));
            *count = LLVMBuildAdd(e->c->builder, *count,
                                  pgc_word(e->c, e->plan.groups[plan->tail].weight), "");
        }
    }
    return *count;
}

static LLVMValueRef address_of_group(struct pgc_emit *e, uint32_t i)
{
    if (!e->addresses[i]) {
        LLVMPositionBuilderBefore(e->c->builder, e->sites[i].at);
        e->addresses[i] = pgc_address(e->c, e->sites[i].pointer);
    }
    return e->addresses[i];
}

static LLVMValueRef address_at(struct pgc_emit *e, uint32_t b);

/* The pointer of the last group before, so that it belongs to an access that has been made. */
static LLVMValueRef address_after(struct pgc_emit *e, uint32_t b)
{
    uint32_t tail = e->plan.of[b].tail;
    return tail != PGC_NONE ? address_of_group(e, tail) : address_at(e, b);
}

static LLVMValueRef address_at(struct pgc_emit *e, uint32_t b)
{
    const struct pgc_graph *g = graph(e);
    LLVMValueRef *address = &e->of[b].address_in;
    if (*address)
        return *address;
    if (only_edge(e, b))
        return *address = address_after(e, only_edge(e, b)->from);
    *address = add_phi(e, b);
    for (uint32_t i = g->in[b]; i < g->in[b + 1]; i++) {
        const struct pgc_edge *edge = &g->edges[g->into[i]];
        add_incoming(e, *address, edge,
                     pgc_flows(&e->plan, edge) ? address_after(e, edge->from)
                                               : pgc_word(e->c, 0));
    }
    return *address;
}

/* ---- updates ---- */

static void update_group(struct pgc_emit *e, const struct pgc_update *u)
{
    const struct pgc_group *group = &e->plan.groups[u->index];
    LLVMValueRef at = e->sites[u->index].at;
    bool shared = e->granule && e->sites[u->index].pointer == e->object;
    LLVMValueRef address = shared ? NULL : address_of_group(e, u->index);
    LLVMValueRef amount = pgc_word(e->c, u->amount);
    if (u->amount == PGC_VARIES) {
        amount = count_at(e, group->block);
        LLVMPositionBuilderBefore(e->c->builder, at);
        amount = LLVMBuildAdd(e->c->builder, amount, pgc_word(e->c, group->weight), "");
    }
    LLVMPositionBuilderBefore(e->c->builder, at);
    pgc_add(e->c, shared ? e->granule : pgc_granule(e->c, address), amount);
}

/* The values that are pending after a block, and then the builder where they are wanted. */
struct pending {
    LLVMValueRef count, address;
};

static struct pending pending_after(struct pgc_emit *e, uint32_t b)
{
    return (struct pending){count_after(e, b), e->pointer ? NULL : address_after(e, b)};
}

static void add_here(struct pgc_emit *e, struct pending p)
{
    LLVMValueRef granule = e->granule;
    if (p.address)
        granule = pgc_granule(e->c, p.address);
    else if (!granule)
        granule = pgc_granule(e->c, pgc_address(e->c, e->pointer));
    pgc_add(e->c, granule, p.count);
}

static LLVMBasicBlockRef add_block(struct pgc_emit *e)
{
    return LLVMAppendBasicBlockInContext(e->c->context, e->c->function, "");
}

/* The place in the source is that of no instruction: the last one may be of another function. */
static void go_to_end(struct pgc_emit *e, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(e->c->builder, block);
    LLVMSetCurrentDebugLocation2(e->c->builder, NULL);
}

/* The builder after all code that is on the edge so far. */
static struct pgc_emit_edge *edge_code(struct pgc_emit *e, uint32_t edge)
{
    struct pgc_emit_edge *code = &e->edges[edge];
    if (!code->first)
        code->first = code->last = add_block(e);
    go_to_end(e, code->last);
    return code;
}

/* A count of 0 may have no address, and is none. */
static void add_guarded(struct pgc_emit *e, uint32_t edge, struct pending p)
{
    struct pgc_emit_edge *code = edge_code(e, edge);
    LLVMBasicBlockRef some = add_block(e), on = add_block(e);
    LLVMValueRef none =
        LLVMBuildICmp(e->c->builder, LLVMIntEQ, p.count, pgc_word(e->c, 0), "");
    LLVMBuildCondBr(e->c->builder, none, on, some);
    go_to_end(e, some);
    add_here(e, p);
    LLVMBuildBr(e->c->builder, on);
    code->last = on;
}

static LLVMValueRef first_after_phis(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

static void update_edge(struct pgc_emit *e, const struct pgc_update *u)
{
    const struct pgc_edge *edge = &graph(e)->edges[u->index];
    struct pending p = pending_after(e, edge->from);
    if (u->guarded) {
        add_guarded(e, u->index, p);
        return;
    }
    if (only_edge(e, edge->to))
        LLVMPositionBuilderBefore(e->c->builder, first_after_phis(e->blocks[edge->to]));
    else
        edge_code(e, u->index);
    add_here(e, p);
}

static void update_end(struct pgc_emit *e, const struct pgc_update *u)
{
    struct pending p = pending_after(e, u->index);
    LLVMPositionBuilderBefore(e->c->builder,
                              LLVMGetBasicBlockTerminator(e->blocks[u->index]));
    add_here(e, p);
}

/* More copies of one register than this cost the compiler more than the program gains: its register
 * coalescer takes the square of their number. */
enum { MOST_COPIES = 512 };

/* Computed once, where the pointer comes from; NULL: no code can be put there. */
static LLVMValueRef granule_of_object(struct pgc_emit *e)
{
    LLVMValueRef base = pgc_base(e->c, e->blocks[0]), after = LLVMIsAInstruction(e->object);
    if (after && LLVMIsATerminatorInst(after))
        return NULL;
    for (after = LLVMGetNextInstruction(after ? after : base);
         LLVMIsAPHINode(after) || after == base || LLVMIsALandingPadInst(after);)
        after = LLVMGetNextInstruction(after);
    if (LLVMIsACatchSwitchInst(after) || LLVMIsAFuncletPadInst(after))
        return NULL;
    LLVMPositionBuilderBefore(e->c->builder, after);
    return pgc_granule(e->c, pgc_address(e->c, e->object));
}

void pgc_emit_pointer(struct pgc_emit *e, uint32_t home, LLVMValueRef object,
                      const struct pgc_group *groups, const struct pgc_site *sites, uint32_t n)
{
    uint32_t there = 0;
    pgc_plan_make(&e->plan, home, groups, n);
    for (uint32_t i = 0; i < n; i++)
        there += sites[i].pointer == object;
    e->object = object;
    e->pointer = there == n ? object : NULL;
    e->granule = there > MOST_COPIES ? granule_of_object(e) : NULL;
    e->sites = sites;
    e->addresses = pgc_zeroed(n, sizeof *e->addresses);
    for (uint32_t i = 0; i < e->plan.n_listed; i++)
        e->of[e->plan.list[i]] = (struct pgc_emit_block){0};
    for (size_t i = 0; i < e->plan.n_updates; i++) {
        const struct pgc_update *u = &e->plan.updates[i];
        if (u->place == PGC_AT_GROUP)
            update_group(e, u);
        else if (u->place == PGC_AT_END)
            update_end(e, u);
        else
            update_edge(e, u);
    }
    free(e->addresses);
}

/* `edge_to` has the last edge to each block that was looked at, and 1. */
static void leave_over_code(struct pgc_emit *e, uint32_t b, size_t *edge_to)
{
    const struct pgc_graph *g = graph(e);
    LLVMValueRef last = LLVMGetBasicBlockTerminator(e->blocks[b]);
    bool any = false;
    for (uint32_t i = g->out[b]; i < g->out[b + 1]; i++) {
        edge_to[g->edges[i].to] = i + 1;
        any |= e->edges[i].first != NULL;
    }
    for (unsigned i = 0; any && i < LLVMGetNumSuccessors(last); i++) {
        uint32_t to = pgc_map_number(e->numbers, LLVMGetSuccessor(last, i), 0);
        const struct pgc_emit_edge *code = &e->edges[edge_to[to] - 1];
        if (code->first)
            LLVMSetSuccessor(last, i, code->first);
    }
}

static void enter_by_code(struct pgc_emit *e, uint32_t b)
{
    const struct pgc_graph *g = graph(e);
    LLVMBasicBlockRef *from = pgc_zeroed(g->in[b + 1] - g->in[b], sizeof *from);
    LLVMBasicBlockRef *code = pgc_zeroed(g->in[b + 1] - g->in[b], sizeof *code);
    unsigned n = 0;
    for (uint32_t i = g->in[b]; i < g->in[b + 1]; i++) {
        const struct pgc_emit_edge *edge = &e->edges[g->into[i]];
        if (!edge->first)
            continue;
        go_to_end(e, edge->last);
        LLVMBuildBr(e->c->builder, e->blocks[b]);
        from[n] = e->blocks[g->edges[g->into[i]].from];
        code[n++] = edge->last;
    }
    if (n)
        pgc_change_predecessors(e->blocks[b], from, code, n);
    free(from);
    free(code);
}

void pgc_emit_close(struct pgc_emit *e)
{
    uint32_t blocks = graph(e)->blocks;
    size_t *edge_to = pgc_zeroed(blocks, sizeof *edge_to);
    for (uint32_t b = 0; b < blocks; b++)
        leave_over_code(e, b, edge_to);
    free(edge_to);
    for (uint32_t b = 0; b < blocks; b++)
        enter_by_code(e, b);
    pgc_plan_close(&e->plan);
    free(e->edges);
    free(e->of);
}
