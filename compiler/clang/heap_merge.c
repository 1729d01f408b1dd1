/* Collects the accesses of a function by pointer, and asks compiler/plan where to write counts. */
#include "heap_merge.h"

#include "heap_barrier.h"
#include "heap_emit.h"
#include "heap_map.h"
#include "heap_object.h"
#include "plan_memory.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

enum { DEEPEST = 6, GRANULE = 64 };

/* One access, or several by one instruction. */
struct counted {
    LLVMValueRef at, access; /* pointer */
    uint32_t key, block, segment, weight, order;
    bool there;
};

struct key {
    LLVMValueRef pointer;
    uint64_t benefit; /* accesses, those in loops counted as if they went round eight times */
    uint32_t number;
};

struct merging {
    struct pgc_counting *c;
    struct pgc_flow flow;
    struct pgc_map blocks;
    struct pgc_map keys; /* a pointer and a window of 64 bytes; 0: all of an object is merged */
    LLVMBasicBlockRef *block_at; /* by number */
    struct counted *counted;
    size_t n, capacity;
    struct key *of; /* by number */
    size_t n_of, of_capacity;
    bool returns_twice;
};

static uint32_t block_number(struct merging *m, LLVMBasicBlockRef block)
{
    return pgc_map_number(&m->blocks, block, 0);
}

/* One edge, however often the block names the other one. `edge_to` has the last edge to each block,
 * and 1. */
static void add_edges(struct merging *m, LLVMBasicBlockRef block, size_t *edge_to)
{
    struct pgc_graph *g = &m->flow.graph;
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
    uint32_t from = block_number(m, block);
    size_t first = g->n_edges;
    for (unsigned i = 0; i < LLVMGetNumSuccessors(last); i++) {
        uint32_t to = block_number(m, LLVMGetSuccessor(last, i));
        if (edge_to[to] > first) {
            g->edges[edge_to[to] - 1].times++;
            continue;
        }
        pgc_graph_edge(g, from, to);
        edge_to[to] = g->n_edges;
    }
}

static void find_blocks(struct merging *m, LLVMValueRef function)
{
    m->block_at = pgc_zeroed(LLVMCountBasicBlocks(function), sizeof *m->block_at);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        m->block_at[block_number(m, b)] = b;
    size_t *edge_to = pgc_zeroed(m->blocks.n, sizeof *edge_to);
    pgc_flow_open(&m->flow, m->blocks.n);
    for (uint32_t b = 0; b < m->flow.graph.blocks; b++)
        add_edges(m, m->block_at[b], edge_to);
    free(edge_to);
    pgc_graph_finish(&m->flow.graph);
}

static uint32_t key_of(struct merging *m, LLVMValueRef pointer, int64_t window)
{
    uint32_t key = pgc_map_number(&m->keys, pointer, window);
    if (key == m->n_of)
        PGC_PUSH(m->of, m->n_of, m->of_capacity, (struct key){.pointer = pointer, .number = key});
    return key;
}

static int64_t window_of(int64_t distance)
{
    return (distance - (distance < 0) * (GRANULE - 1)) / GRANULE;
}

/* Accesses that begin in one window are in one granule or the next one, and that of the first is
 * counted. */
static void look_near(const struct merging *m, LLVMValueRef pointer, struct pgc_object *object,
                      int64_t *window)
{
    int64_t distance;
    object->pointer = pgc_base_of(m->c->module, pointer, &distance);
    object->there = !distance;
    *window = window_of(distance);
}

static void push(struct merging *m, LLVMValueRef at, LLVMValueRef pointer, uint32_t weight)
{
    struct pgc_object object = pgc_object_of(pointer);
    int64_t window = 0;
    if (!object.charged)
        return;
    if (m->c->near)
        look_near(m, pointer, &object, &window);
    uint32_t key = key_of(m, object.pointer, window);
    uint32_t b = block_number(m, LLVMGetInstructionParent(at));
    unsigned depth = pgc_loop_depth(&m->flow.graph, b);
    m->of[key].benefit += (uint64_t)weight << 3 * (depth < DEEPEST ? depth : DEEPEST);
    const struct counted counted = {at, pointer, key, b, m->flow.segments[b] - 1, weight,
                                    (uint32_t)m->n, object.there};
    PGC_PUSH(m->counted, m->n, m->capacity, counted);
}

/* One count for each 8 bytes. */
static void push_range(struct merging *m, LLVMValueRef at, LLVMValueRef pointer, uint32_t counts)
{
    enum { WORD = 8 };
    int64_t distance = 0;
    if (m->c->near)
        pgc_base_of(m->c->module, pointer, &distance);
    for (uint32_t i = 0, n; i < counts; i += n) {
        const int64_t start = distance + i * WORD;
        for (n = 1; i + n < counts; n++)
            if (m->c->near && window_of(start + n * WORD) != window_of(start))
                break;
        push(m, at, i ? pgc_further(m->c, at, pointer, i * WORD) : pointer, n);
    }
}

/* Whole ranges are counted by the runtime, but for short ones, whose length is known. */
static void find_range(struct merging *m, LLVMValueRef intrinsic, const char *function)
{
    bool fills = !strcmp(function, "__memprof_memset");
    LLVMValueRef to = LLVMGetOperand(intrinsic, 0), from = LLVMGetOperand(intrinsic, 1);
    bool to_heap = pgc_object_of(to).charged, from_heap = !fills && pgc_object_of(from).charged;
    uint32_t counts;
    if (!to_heap && !from_heap)
        return;
    LLVMValueRef written = pgc_write_out(m->c, intrinsic, &counts);
    if (!written) {
        pgc_count_in_function(m->c, intrinsic, function);
        return;
    }
    if (to_heap && counts)
        push_range(m, written, to, counts);
    if (from_heap && counts)
        push_range(m, written, from, counts);
}

/* Not by an exception or a computed goto, before whose targets no code can be put. */
static bool ends_by_choice(LLVMValueRef last)
{
#if LLVM_VERSION_MAJOR >= 23
    return LLVMIsAUncondBrInst(last) || LLVMIsACondBrInst(last) || LLVMIsASwitchInst(last);
#else
    return LLVMIsABranchInst(last) || LLVMIsASwitchInst(last);
#endif
}

static void find_in_block(struct merging *m, LLVMBasicBlockRef block)
{
    uint32_t b = block_number(m, block);
    struct pgc_access access;
    m->flow.segments[b] = 1;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        const char *function = pgc_counting_function(i);
        if (function) {
            find_range(m, i, function);
            continue;
        }
        if (pgc_access_of(i, &access)) {
            if (!access.mask)
                push(m, i, access.pointer, 1);
            else if (pgc_object_of(access.pointer).charged)
                pgc_count_access(m->c, &access);
        }
        m->flow.segments[b] += pgc_is_barrier(i);
        m->returns_twice |= pgc_returns_twice(i);
    }
    m->flow.open[b] = ends_by_choice(LLVMGetBasicBlockTerminator(block));
}

/* If a function may continue twice (setjmp), no count is pending from one block to another. */
static void find_accesses(struct merging *m)
{
    const struct pgc_graph *g = &m->flow.graph;
    for (uint32_t i = 0; i < g->reached; i++)
        find_in_block(m, m->block_at[g->order[i]]);
    for (uint32_t b = 0; b < g->blocks && m->returns_twice; b++)
        m->flow.open[b] = false;
}

/* ---- by pointer ---- */

static int by_key_and_block(const void *left, const void *right)
{
    const struct counted *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static int by_benefit(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    if (a->benefit != b->benefit)
        return a->benefit > b->benefit ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* Adds up accesses in the same segment of the same block: how many groups there are. */
static uint32_t make_groups(const struct counted *counted, size_t n, LLVMValueRef pointer,
                            struct pgc_group *groups, struct pgc_site *sites)
{
    uint32_t made = 0;
    for (size_t i = 0; i < n; i++) {
        const struct counted *one = &counted[i];
        struct pgc_group *last = made ? &groups[made - 1] : NULL;
        if (last && last->block == one->block && last->segment == one->segment) {
            last->weight += one->weight;
        } else {
            groups[made] = (struct pgc_group){one->block, one->segment, one->weight};
            sites[made++] = (struct pgc_site){one->at, one->access};
        }
        if (one->there)
            sites[made - 1].pointer = pointer;
    }
    return made;
}

static void emit_key(struct merging *m, struct pgc_emit *e, const struct key *key,
                     const struct counted *counted, size_t n)
{
    struct pgc_group *groups = pgc_zeroed(n, sizeof *groups);
    struct pgc_site *sites = pgc_zeroed(n, sizeof *sites);
    uint32_t made = make_groups(counted, n, key->pointer, groups, sites);
    uint32_t home = LLVMIsAInstruction(key->pointer)
                        ? block_number(m, LLVMGetInstructionParent(key->pointer))
                        : 0;
    pgc_emit_pointer(e, home, key->pointer, groups, sites, made);
    free(groups);
    free(sites);
}

static void emit(struct merging *m)
{
    struct pgc_emit e;
    size_t *first = pgc_zeroed(m->n_of + 1, sizeof *first);
    if (m->n)
        qsort(m->counted, m->n, sizeof *m->counted, by_key_and_block);
    for (size_t i = 0; i < m->n; i++)
        first[m->counted[i].key + 1] = i + 1;
    if (m->n_of)
        qsort(m->of, m->n_of, sizeof *m->of, by_benefit);
    pgc_emit_open(&e, m->c, &m->flow, m->block_at, &m->blocks);
    for (size_t i = 0; i < m->n_of; i++) {
        size_t start = first[m->of[i].number], end = first[m->of[i].number + 1];
        emit_key(m, &e, &m->of[i], &m->counted[start], end - start);
    }
    pgc_emit_close(&e);
    free(first);
}

void pgc_count_merged(struct pgc_counting *c, LLVMValueRef function)
{
    struct merging m = {.c = c};
    find_blocks(&m, function);
    find_accesses(&m);
    emit(&m);
    pgc_flow_close(&m.flow);
    pgc_map_close(&m.blocks);
    pgc_map_close(&m.keys);
    free(m.block_at);
    free(m.counted);
    free(m.of);
}
