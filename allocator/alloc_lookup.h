/* The group of a call stack, as every allocation asks for it. */
#ifndef PGAL_LOOKUP_H
#define PGAL_LOOKUP_H

#include "alloc_plan.h"
#include "alloc_thread.h"

#pragma GCC visibility push(hidden)

/* NULL: none; others can be added meanwhile. After the last hash there is space for all of them, so
 * that a search ends at an empty one. */
PGG_INLINE const struct pgal_leaf *pgal_leaf_find(u64 address)
{
    for (const struct pgal_leaf *leaf = pgal_leaf_slot(address);; leaf++) {
        const u64 found = __atomic_load_n(&leaf->address, __ATOMIC_ACQUIRE);
        if (PGG_LIKELY(found == address))
            return leaf;
        if (!found)
            return NULL;
    }
}

/* A stack whose frames are where they are noted. */
struct pgal_noted {
    const u64 *pair;
    size_t last; /* word of the stack above it */
};
PGG_INLINE bool pgal_noted_begin(const struct pgal_thread *t, const void *frame,
                                 struct pgal_noted *s)
{
    struct pgg_step begin;
    if (PGG_UNLIKELY(!t || t->busy || !pgg_step_begin(&t->walker, frame, &begin)))
        return false;
    s->pair = (const u64 *)begin.bp_at;
    s->last = (begin.hi - begin.bp_at) / sizeof(u64) - 1;
    return true;
}
/* False: what is noted of how this node's frame is left is not so here, or nothing is. */
PGG_INLINE bool pgal_noted_call(const struct pgal_noted *s, const struct pgal_node *node, u64 *call)
{
    const size_t at = __atomic_load_n(&node->return_at, __ATOMIC_ACQUIRE);
    if (PGG_UNLIKELY(at - 1 >= s->last) ||
        (node->read && PGG_UNLIKELY(s->pair[node->read_at] != (uintptr_t)(s->pair + node->read))))
        return false;
    *call = pgg_return_address(s->pair[at]) - 1;
    return true;
}

/* Without branches, because the processor cannot predict which of a few callers it is. */
PGG_INLINE u32 pgal_last_group(const struct pgal_node *node, u64 call)
{
    const struct pgal_node *end = node + node->size;
    u32 group = node->group;
    for (const struct pgal_node *n = node + 1; n < end; n++)
        group ^= (group ^ n->group) & -(u32)(n->address == call);
    if (PGG_UNLIKELY(pgal_modules_missing) && group == node->group)
        return pgal_group_of_unknown_below(node, call);
    return group;
}

/* For nodes of depth 1. */
PGG_INLINE u32 pgal_group_of_second(u32 first, const void *frame)
{
    const struct pgal_node *node = &pgal_nodes[first];
    struct pgal_noted stack;
    u64 call;
    if (PGG_UNLIKELY(!pgal_noted_begin(pgal_self, frame, &stack) ||
                     !pgal_noted_call(&stack, node, &call)))
        return pgal_group_by_rules(first, frame);
    return pgal_last_group(node, call);
}

/* The group of what the caller of the function with this frame address allocates, where some calls
 * have one. */
PGG_INLINE u32 pgal_group_of_planned(const void *frame)
{
    const u64 *pair = (const u64 *)pgg_frame_pair((uintptr_t)frame);
    const u64 address = pgg_return_address(pair[1]) - 1;
    const struct pgal_leaf *leaf = pgal_leaf_find(address);
    if (!leaf)
        return PGG_UNLIKELY(pgal_modules_missing) ? pgal_group_of_unknown(address) : 0;
    if (!leaf->depth)
        return leaf->group;
    return leaf->depth == 1 ? pgal_group_of_second(leaf->node, frame)
                            : pgal_group_of_deeper(leaf->node, frame);
}
PGG_INLINE u32 pgal_group_of_stack(const void *frame)
{
    return PGG_LIKELY(!pgal_planned()) ? 0 : pgal_group_of_planned(frame);
}

#pragma GCC visibility pop
#endif
