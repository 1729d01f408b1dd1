/* Call stacks as paths in a tree. */
#include "stack_tree.h"

#include "compiler.h"
#include "hash.h"
#include "spin.h"

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

void pgk_stack_tree_rest(struct pgk_stack_tree *t)
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

/* Makes room for one more node. */
static bool make_room(struct pgk_stack_tree *t)
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
    if (PGK_UNLIKELY(!t->slots || t->nodes.n > slots_limit(t->mask)) && !make_room(t))
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

size_t pgk_stack_room(const struct pgk_stack_tree *t)
{
    uint64_t places = t->slots ? slots_limit(t->mask) : 0;
    return places < t->nodes.cap ? places : t->nodes.cap;
}

/* A thread that finds the place of a node empty takes it by this mark, and gives the node a number
 * then: so there are no numbers without a node. */
#define TAKEN PGK_NODE_NONE

/* Is the pair at this place, perhaps only now? Else it is another's. */
static bool claim_slot(struct pgk_stack_tree *t, uint32_t *slot, uint32_t parent, uint32_t frame,
                       uint32_t *node)
{
    unsigned turns = 0;
    *node = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!*node && __atomic_compare_exchange_n(slot, node, TAKEN, false, __ATOMIC_ACQUIRE,
                                              __ATOMIC_ACQUIRE)) {
        *node = (uint32_t)__atomic_fetch_add(&t->nodes.n, 1, __ATOMIC_RELAXED);
        t->nodes.v[*node] = (struct pgk_stack_node){parent, frame};
        __atomic_store_n(slot, *node, __ATOMIC_RELEASE);
        return true;
    }
    for (; *node == TAKEN; *node = __atomic_load_n(slot, __ATOMIC_ACQUIRE))
        pgk_spin(&turns);
    return t->nodes.v[*node].frame == frame && t->nodes.v[*node].parent == parent;
}

uint32_t pgk_stack_push_shared(struct pgk_stack_tree *t, uint32_t parent, uint32_t frame)
{
    uint32_t node;
    for (uint32_t i = 0; i < NEAR; i++)
        if (claim_slot(t, &t->slots[(near_start(parent) + i) & t->mask], parent, frame, &node))
            return node;
    uint32_t i = far_start(parent, frame);
    while (!claim_slot(t, &t->slots[i & t->mask], parent, frame, &node))
        i++;
    return node;
}

uint32_t pgk_stack_add(struct pgk_stack_tree *t, const uint32_t *frames, size_t n)
{
    uint32_t node = 0;
    while (n && node != PGK_NODE_NONE)
        node = pgk_stack_push(t, node, frames[--n]);
    return node;
}
