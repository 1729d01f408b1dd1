/* Call stacks as paths in a tree. */
#include "stack_tree.h"

#include "compiler.h"
#include "hash.h"
#include "spin.h"

#include <assert.h>

enum { FIRST_SLOTS = 1024 };

bool pgk_stack_tree_init(struct pgk_stack_tree *t)
{
    *t = (struct pgk_stack_tree){0};
    t->slots = pgk_mem_zalloc(FIRST_SLOTS, sizeof *t->slots);
    t->mask = FIRST_SLOTS - 1;
    if (!t->slots ||
        !pgk_vec_push(&t->nodes, (struct pgk_stack_node){PGK_NODE_NONE, PGK_NODE_NONE})) {
        pgk_stack_tree_free(t);
        return false;
    }
    return true;
}

void pgk_stack_tree_free(struct pgk_stack_tree *t)
{
    pgk_mem_free(t->slots);
    pgk_vec_free(&t->nodes);
    *t = (struct pgk_stack_tree){0};
}

void pgk_stack_tree_trim(struct pgk_stack_tree *t)
{
    pgk_mem_free(t->slots);
    t->slots = NULL;
}

/* A table of mask + 1 slots takes half as many nodes. */
static inline uint64_t slots_limit(uint32_t mask)
{
    return mask / 2;
}

/* Children stand near the place of their parent's number: most nodes have one child, and
 * stacks come in an order in which neighbours share callers, so that a walk from the root
 * to the leaf stays in the cache. Where a parent has more children than the places near
 * it take, the rest is spread over the whole table, so that no input makes look-ups slow. */
enum { NEAR = 8 };

static inline uint32_t near_start(uint32_t parent)
{
    return 2 * parent;
}

static inline uint32_t far_start(uint32_t parent, uint32_t frame)
{
    uint64_t h = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15u;
    return (uint32_t)((h ^ h >> 29) * 0xbf58476d1ce4e5b9u >> 32);
}

struct slots {
    uint32_t *v;
    uint32_t mask;
    const struct pgk_stack_node *nodes;
};

/* A slot holds the node alone, which says itself what it is: as nodes stand near their parents,
 * this is cheaper than a table of twice the size. */
static inline bool fits(const struct slots *t, uint32_t node, uint32_t parent, uint32_t frame)
{
    return !node || (t->nodes[node].frame == frame && t->nodes[node].parent == parent);
}

/* The slot of the pair, or the empty one where it belongs. */
static inline uint32_t *find_slot(const struct slots *t, uint32_t parent, uint32_t frame)
{
    for (uint32_t i = 0; i < NEAR; i++) {
        uint32_t *s = &t->v[(near_start(parent) + i) & t->mask];
        if (fits(t, *s, parent, frame))
            return s;
    }
    for (uint32_t i = far_start(parent, frame);; i++) {
        uint32_t *s = &t->v[i & t->mask];
        if (fits(t, *s, parent, frame))
            return s;
    }
}

static bool set_slots(struct pgk_stack_tree *t, uint32_t mask)
{
    struct slots grown = {pgk_mem_table((size_t)mask + 1, sizeof *grown.v), mask, t->nodes.v};
    if (!grown.v)
        return false;
    for (uint32_t n = 1; n < t->nodes.n; n++)
        *find_slot(&grown, t->nodes.v[n].parent, t->nodes.v[n].frame) = n;
    pgk_mem_free(t->slots);
    t->slots = grown.v;
    t->mask = mask;
    return true;
}

bool pgk_stack_reserve(struct pgk_stack_tree *t, size_t nodes)
{
    uint32_t mask = t->mask;
    while (slots_limit(mask) < nodes && mask < UINT32_MAX / 2)
        mask = mask * 2 + 1;
    return pgk_vec_reserve(&t->nodes, nodes > t->nodes.n ? nodes - t->nodes.n : 0) &&
           ((mask == t->mask && t->slots) || set_slots(t, mask));
}

/* Reserves space for one more node. */
static bool make_space(struct pgk_stack_tree *t)
{
    uint32_t mask = t->mask;
    while (t->nodes.n > slots_limit(mask) && mask < UINT32_MAX / 2)
        mask = mask * 2 + 1;
    if (mask == t->mask && t->slots)
        return t->nodes.n <= slots_limit(mask);
    return set_slots(t, mask);
}

uint32_t pgk_stack_push(struct pgk_stack_tree *t, uint32_t parent, uint32_t frame)
{
    assert(parent < t->nodes.n);
    if (PGK_UNLIKELY(!t->slots || t->nodes.n > slots_limit(t->mask)) && !make_space(t))
        return PGK_NODE_NONE;
    uint32_t *s = find_slot(&(struct slots){t->slots, t->mask, t->nodes.v}, parent, frame);
    if (*s)
        return *s;
    uint32_t node = (uint32_t)t->nodes.n;
    if (!pgk_vec_push(&t->nodes, (struct pgk_stack_node){parent, frame}))
        return PGK_NODE_NONE;
    *s = node;
    return node;
}

bool pgk_stack_push_path(struct pgk_stack_tree *t, uint32_t parent, const uint32_t *frames,
                         size_t n, uint32_t *nodes)
{
    for (size_t i = 0; i < n && parent != PGK_NODE_NONE; i++)
        nodes[i] = parent = pgk_stack_push(t, parent, frames[i]);
    return parent != PGK_NODE_NONE;
}

size_t pgk_stack_capacity(const struct pgk_stack_tree *t)
{
    uint64_t places = t->slots ? slots_limit(t->mask) : 0;
    return places < t->nodes.cap ? places : t->nodes.cap;
}

/* A thread that finds the place of a node empty takes it by this mark. No other thread can know the
 * nodes above it yet. So it makes all the rest of the stack, and then publishes it by storing the
 * node in the place. No number is left without a node, and the nodes of a stack stay together. */
#define TAKEN PGK_NODE_NONE

/* Is there a node, or will there be one in a moment? Else the place is the caller's now. */
static bool find_or_take(uint32_t *slot, uint32_t *node)
{
    unsigned turns = 0;
    *node = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!*node && __atomic_compare_exchange_n(slot, node, TAKEN, false, __ATOMIC_ACQUIRE,
                                              __ATOMIC_ACQUIRE))
        return false;
    for (; *node == TAKEN; *node = __atomic_load_n(slot, __ATOMIC_ACQUIRE))
        pgk_spin(&turns);
    return true;
}

/* Is the node of the pair at this place, or is the place the caller's now? Then *node is 0. */
static inline bool is_at(const struct pgk_stack_tree *t, uint32_t *slot, uint32_t parent,
                         uint32_t frame, uint32_t *node)
{
    *node = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (PGK_UNLIKELY(!*node || *node == TAKEN) && !find_or_take(slot, node))
        return true;
    return t->nodes.v[*node].frame == frame && t->nodes.v[*node].parent == parent;
}

/* The node of the pair, or 0 and the place that is the caller's. */
static inline uint32_t find_shared(const struct pgk_stack_tree *t, uint32_t parent, uint32_t frame,
                                   uint32_t **taken)
{
    uint32_t node, *slot;
    for (uint32_t i = 0; i < NEAR; i++) {
        slot = &t->slots[(near_start(parent) + i) & t->mask];
        if (is_at(t, slot, parent, frame, &node))
            goto found;
    }
    for (uint32_t i = far_start(parent, frame);; i++) {
        slot = &t->slots[i & t->mask];
        if (is_at(t, slot, parent, frame, &node))
            goto found;
    }
found:
    *taken = slot;
    return node;
}

/* Puts a node at the place of its pair. No thread looks for this pair yet, so a place that another
 * thread has taken is never for it. */
static inline void put_shared(struct pgk_stack_tree *t, uint32_t node)
{
    const struct pgk_stack_node *n = &t->nodes.v[node];
    uint32_t at = near_start(n->parent);
    for (uint32_t i = 0;; i++, at++) {
        uint32_t empty = 0;
        if (i == NEAR)
            at = far_start(n->parent, n->frame);
        if (__atomic_compare_exchange_n(&t->slots[at & t->mask], &empty, node, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
}

/* Prefetches the slots of new nodes together, because each would be waited for. */
static inline void look_ahead(const struct pgk_stack_tree *t, uint32_t first, size_t n)
{
    enum { CACHE_LINE = 64 };
    for (size_t i = 0; i < n; i += CACHE_LINE / sizeof *t->slots / 2)
        __builtin_prefetch(&t->slots[near_start(first + (uint32_t)i) & t->mask], 1);
}

void pgk_stack_push_path_shared(struct pgk_stack_tree *t, size_t *count, uint32_t parent,
                                const uint32_t *frames, size_t n, uint32_t *nodes)
{
    uint32_t *taken = NULL;
    size_t i = 0;
    for (; i < n; i++, parent = nodes[i - 1]) {
        nodes[i] = find_shared(t, parent, frames[i], &taken);
        if (!nodes[i])
            break;
    }
    if (i == n)
        return;
    uint32_t first = (uint32_t)__atomic_fetch_add(count, n - i, __ATOMIC_RELAXED), node = first;
    look_ahead(t, first, n - i);
    for (; i < n; i++, parent = node++) {
        nodes[i] = node;
        t->nodes.v[node] = (struct pgk_stack_node){parent, frames[i]};
        if (node != first)
            put_shared(t, node);
    }
    __atomic_store_n(taken, first, __ATOMIC_RELEASE);
}

uint32_t pgk_stack_add(struct pgk_stack_tree *t, const uint32_t *frames, size_t n)
{
    uint32_t node = 0;
    while (n && node != PGK_NODE_NONE)
        node = pgk_stack_push(t, node, frames[--n]);
    return node;
}
