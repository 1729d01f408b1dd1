/* Call stacks as paths in a tree. */
#include "stack_tree.h"

#include "hash.h"

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

/* A table of mask + 1 slots takes two thirds as many nodes. */
static inline uint64_t slots_limit(uint32_t mask)
{
    return (uint64_t)mask * 2 / 3;
}

/* Children stand near the place of their parent's number: most nodes have one child, and
 * stacks come in an order in which neighbours share callers, so that a walk from the root
 * to the leaf stays in the cache. Where a parent has more children than the places near
 * it take, the rest is spread over the whole table, so that no input makes look-ups slow. */
enum { NEAR = 8 };

static inline uint32_t near_start(uint32_t parent)
{
    return parent + parent / 2;
}

static inline uint32_t far_start(uint32_t parent, uint32_t frame)
{
    uint64_t h = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15u;
    return (uint32_t)((h ^ h >> 29) * 0xbf58476d1ce4e5b9u >> 32);
}

struct slots {
    struct pgk_stack_slot *v;
    uint32_t mask;
    const struct pgk_stack_node *nodes;
};

static inline bool fits(const struct slots *t, const struct pgk_stack_slot *s, uint32_t parent,
                        uint32_t frame)
{
    return !s->node || (s->frame == frame && t->nodes[s->node].parent == parent);
}

/* The slot of the pair, or the empty one (node 0) where it belongs. */
static inline struct pgk_stack_slot *find_slot(const struct slots *t, uint32_t parent,
                                               uint32_t frame)
{
    for (uint32_t i = 0; i < NEAR; i++) {
        struct pgk_stack_slot *s = &t->v[(near_start(parent) + i) & t->mask];
        if (fits(t, s, parent, frame))
            return s;
    }
    for (uint32_t i = far_start(parent, frame);; i++) {
        struct pgk_stack_slot *s = &t->v[i & t->mask];
        if (fits(t, s, parent, frame))
            return s;
    }
}

static bool set_slots(struct pgk_stack_tree *t, uint32_t mask)
{
    struct slots grown = {pgk_mem_table((size_t)mask + 1, sizeof *grown.v), mask, t->nodes.v};
    if (!grown.v)
        return false;
    for (uint32_t n = 1; n < t->nodes.n; n++) {
        const struct pgk_stack_node *node = &t->nodes.v[n];
        *find_slot(&grown, node->parent, node->frame) = (struct pgk_stack_slot){node->frame, n};
    }
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
           (mask == t->mask || set_slots(t, mask));
}

uint32_t pgk_stack_push(struct pgk_stack_tree *t, uint32_t parent, uint32_t frame)
{
    struct pgk_stack_slot *s =
        find_slot(&(struct slots){t->slots, t->mask, t->nodes.v}, parent, frame);
    if (s->node)
        return s->node;
    if (t->nodes.n > slots_limit(t->mask)) {
        if (t->mask >= UINT32_MAX / 2 || !set_slots(t, t->mask * 2 + 1))
            return PGK_NODE_NONE;
        s = find_slot(&(struct slots){t->slots, t->mask, t->nodes.v}, parent, frame);
    }
    uint32_t node = (uint32_t)t->nodes.n;
    if (!pgk_vec_push(&t->nodes, (struct pgk_stack_node){parent, frame}))
        return PGK_NODE_NONE;
    *s = (struct pgk_stack_slot){frame, node};
    return node;
}

uint32_t pgk_stack_add(struct pgk_stack_tree *t, const uint32_t *frames, size_t n)
{
    uint32_t node = 0;
    while (n && node != PGK_NODE_NONE)
        node = pgk_stack_push(t, node, frames[--n]);
    return node;
}
