/* Call stacks as paths in a tree: a node is a frame and the stack below it (towards
 * the program's entry), so a stack is the number of its leaf node and equal stacks
 * are one node. Node 0 is the empty stack. A node's parent has a smaller number, so
 * one pass in either direction visits parents before or after their children.
 *
 *        0 ── main ── parse ── malloc      stack "malloc, parse, main" = node 3
 *                 └── load ── malloc       stack "malloc, load, main"  = node 5 */
#ifndef PGK_STACK_TREE_H
#define PGK_STACK_TREE_H

#include "vec.h"

#include <stdint.h>

#define PGK_NODE_NONE UINT32_MAX

struct pgk_stack_node {
    uint32_t parent, frame;
};

struct pgk_stack_tree {
    PGK_VEC(struct pgk_stack_node) nodes;
    uint32_t *slots; /* nodes by (parent, frame), 0: empty; NULL while at rest */
    uint32_t mask;   /* number of slots - 1 */
};

/* A zeroed struct becomes a tree by init; false when out of memory. */
bool pgk_stack_tree_init(struct pgk_stack_tree *t);
/* Reserves space for so many nodes in all; false when out of memory. */
bool pgk_stack_reserve(struct pgk_stack_tree *t, size_t nodes);
void pgk_stack_tree_free(struct pgk_stack_tree *t);
/* Gives back what only adding needs; the next addition makes it anew. */
void pgk_stack_tree_trim(struct pgk_stack_tree *t);

/* The node for `frame` on top of `parent`, added if new; PGK_NODE_NONE when out of
 * memory (or of node numbers). */
uint32_t pgk_stack_push(struct pgk_stack_tree *t, uint32_t parent, uint32_t frame);

/* As pgk_stack_push, for frames[0 .. n-1], each on top of the one before; nodes[i] is that of frame
 * i. False when out of memory. */
bool pgk_stack_push_path(struct pgk_stack_tree *t, uint32_t parent, const uint32_t *frames,
                         size_t n, uint32_t *nodes);
/* The number of nodes from which adding one needs memory. */
size_t pgk_stack_capacity(const struct pgk_stack_tree *t);
/* As pgk_stack_push_path, for several threads at a time, within the capacity. *count is the number
 * of nodes, kept outside of the tree so that readers of the tree do not wait for its changes. */
void pgk_stack_push_path_shared(struct pgk_stack_tree *t, size_t *count, uint32_t parent,
                                const uint32_t *frames, size_t n, uint32_t *nodes);

/* The frames that replace frame i of another tree: frames[first[i] .. first[i + 1] - 1], leaf
 * first. */
struct pgk_frame_map {
    PGK_VEC(uint32_t) first;
    PGK_VEC(uint32_t) frames;
};
/* Makes `to`, which is empty, of `from`. node_map gets a new node for each old one; 0 where no
 * frame is left. The nodes come in order, and the tree is at rest. False when out of memory (or of
 * node numbers); `to` is only good for freeing then. */
bool pgk_stack_expand(struct pgk_stack_tree *to, const struct pgk_stack_tree *from,
                      const struct pgk_frame_map *map, uint32_t *node_map);

/* The node for frames[0 .. n-1], leaf first. */
uint32_t pgk_stack_add(struct pgk_stack_tree *t, const uint32_t *frames, size_t n);

#endif
