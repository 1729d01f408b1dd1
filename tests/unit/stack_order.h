/* Trees of stacks as expanding makes them. */
#ifndef STACK_ORDER_H
#define STACK_ORDER_H

#include "stack_tree.h"

/* Does everything on top of a node come directly behind it? */
static inline bool stacks_in_order(const struct pgk_stack_tree *t)
{
    for (uint32_t i = 1; i < t->nodes.n; i++) {
        uint32_t at = i - 1, parent = t->nodes.v[i].parent;
        while (at > parent)
            at = t->nodes.v[at].parent;
        if (at != parent)
            return false;
    }
    return true;
}

#endif
