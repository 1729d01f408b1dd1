/* A tree of stacks as another one, each frame replaced by none, one or several. Where the new tree
 * is empty before, it can be made front to back: what becomes the same node lies under nodes that
 * became the same one, so that a look at these is enough, and no table is needed. */
#include "stack_tree.h"

#include <stdlib.h>

/* A node of the old tree while it is expanded: of its new frames, those below `left` are still to
 * come, up to `stop`, which is the leaf's. */
struct item {
    uint32_t node, left, stop;
    uint32_t frame; /* that comes next */
};

/* A new node, and what stands on top of it: a part of `items`. */
struct level {
    uint32_t node;
    size_t first, at;
};

struct expand {
    struct pgk_stack_tree *to;
    const struct pgk_stack_tree *from;
    const struct pgk_frame_map *map;
    uint32_t *node_map;
    uint32_t *first_child, *children; /* of old nodes */
    PGK_VEC(struct item) items;
    PGK_VEC(struct level) levels;
    PGK_VEC(uint32_t) hollow;         /* old nodes of which no frame is left */
};

static bool list_children(struct expand *e)
{
    const struct pgk_stack_node *nodes = e->from->nodes.v;
    size_t n = e->from->nodes.n;
    e->first_child = pgk_mem_zalloc(n + 2, sizeof *e->first_child);
    e->children = pgk_mem_alloc(n, sizeof *e->children);
    if (!e->first_child || !e->children)
        return false;
    /* Counted two places ahead, so that filling in leaves each start where it belongs. */
    for (size_t i = 1; i < n; i++)
        e->first_child[nodes[i].parent + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        e->first_child[i] += e->first_child[i - 1];
    for (size_t i = 1; i < n; i++)
        e->children[e->first_child[nodes[i].parent + 1]++] = (uint32_t)i;
    return true;
}

/* An old node with the frames that it becomes, if any. */
static inline struct item item_of(const struct expand *e, uint32_t old)
{
    uint32_t frame = e->from->nodes.v[old].frame;
    uint32_t stop = e->map->first.v[frame], left = e->map->first.v[frame + 1];
    return (struct item){old, left, stop, left > stop ? e->map->frames.v[left - 1] : 0};
}

/* The old node has become the new one: what stands on top of it comes next. */
static bool arrive(struct expand *e, uint32_t old, uint32_t new)
{
    e->hollow.n = 0;
    for (;;) {
        e->node_map[old] = new;
        uint32_t i = e->first_child[old], end = e->first_child[old + 1];
        if (!pgk_vec_reserve(&e->items, end - i))
            return false;
        for (; i < end; i++) {
            struct item child = item_of(e, e->children[i]);
            __builtin_prefetch(&e->first_child[child.node]); /* children lie all over the tree */
            if (child.left > child.stop)
                e->items.v[e->items.n++] = child;
            else if (!pgk_vec_push(&e->hollow, child.node))
                return false;
        }
        if (!e->hollow.n)
            return true;
        old = e->hollow.v[--e->hollow.n];
    }
}

static int by_frame(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static bool open_level(struct expand *e, uint32_t node, size_t first)
{
    size_t n = e->items.n - first;
    if (n > 1)
        qsort(e->items.v + first, n, sizeof *e->items.v, by_frame);
    return pgk_vec_push(&e->levels, (struct level){node, first, first});
}

static bool make_node(struct expand *e, uint32_t parent, uint32_t frame)
{
    return e->to->nodes.n < PGK_NODE_NONE &&
           pgk_vec_push(&e->to->nodes, (struct pgk_stack_node){parent, frame});
}

/* The only item of its kind grows until it branches, as most of a tree does not. */
static bool grow_alone(struct expand *e, uint32_t parent, struct item one)
{
    for (;;) {
        uint32_t node = (uint32_t)e->to->nodes.n;
        if (!make_node(e, parent, one.frame))
            return false;
        parent = node;
        if (--one.left != one.stop) {
            one.frame = e->map->frames.v[one.left - 1];
            continue;
        }
        uint32_t i = e->first_child[one.node], end = e->first_child[one.node + 1];
        struct item child = {0};
        if (end - i == 1)
            child = item_of(e, e->children[i]);
        if (child.left == child.stop)
            break;
        e->node_map[one.node] = node;
        one = child;
    }
    size_t first = e->items.n;
    return arrive(e, one.node, parent) && open_level(e, parent, first);
}

/* Makes the next node on top of the last level's, of all items that go on with the same frame. */
static bool grow(struct expand *e)
{
    struct level *l = &e->levels.v[e->levels.n - 1];
    size_t end = e->items.n, at = l->at;
    uint32_t frame = e->items.v[at].frame, node = (uint32_t)e->to->nodes.n;
    if (at + 1 == end || e->items.v[at + 1].frame != frame)
        return grow_alone(e, l->node, e->items.v[l->at++]);
    if (!make_node(e, l->node, frame))
        return false;
    for (; at < end && e->items.v[at].frame == frame; at++) {
        struct item next = e->items.v[at];
        if (--next.left == next.stop) {
            if (!arrive(e, next.node, node))
                return false;
            continue;
        }
        next.frame = e->map->frames.v[next.left - 1];
        if (!pgk_vec_push(&e->items, next))
            return false;
    }
    l->at = at;
    return open_level(e, node, end);
}

static bool expand(struct expand *e)
{
    if (!list_children(e) || !arrive(e, 0, 0) || !open_level(e, 0, 0))
        return false;
    while (e->levels.n) {
        const struct level *l = &e->levels.v[e->levels.n - 1];
        /* Items of levels further up were taken off already. */
        if (l->at < e->items.n) {
            if (!grow(e))
                return false;
            continue;
        }
        e->items.n = l->first;
        e->levels.n--;
    }
    return true;
}

bool pgk_stack_expand(struct pgk_stack_tree *to, const struct pgk_stack_tree *from,
                      const struct pgk_frame_map *map, uint32_t *node_map)
{
    struct expand e = {.to = to, .from = from, .map = map, .node_map = node_map};
    pgk_stack_tree_trim(to);
    bool ok = expand(&e);
    pgk_mem_free(e.first_child);
    pgk_mem_free(e.children);
    pgk_vec_free(&e.items);
    pgk_vec_free(&e.levels);
    pgk_vec_free(&e.hollow);
    return ok;
}
