/* The plan: which group the objects of a call stack are in. */
#ifndef PGAL_PLAN_H
#define PGAL_PLAN_H

#include "guest_frames.h"
#include "pgal.h"

#pragma GCC visibility push(hidden)

/* Reads the file; what is wrong with it is said, and there is no plan then. */
void pgal_plan_read(const char *path);

/* In a child: who held a lock in the parent is not here. */
void pgal_plan_after_fork(void);

/* A frame of the plan's trie: node 0 is the root. Those below it lie beside one another. */
struct pgal_node {
    u64 address; /* of the call in the process; 0: its module is not loaded */
    struct pgg_rule rule; /* how to leave it */
    u32 first;            /* of those below, by number */
    uint16_t below;       /* how many */
    uint8_t group, depth; /* depth: how many more frames of the stack can matter */
};
extern struct pgal_node *pgal_nodes;

/* Those below the root, by address: leaf frames. */
struct pgal_leaf {
    u64 address; /* 0: none */
    u32 node;
};
extern struct pgal_leaf *pgal_leaves; /* NULL: no plan */
extern u32 pgal_leaves_shift;         /* 64 less the power of two that their number is */

/* Number of the frame, or 0: others can be added meanwhile. */
PGG_INLINE u32 pgal_leaf_find(u64 address)
{
    for (u64 i = address * UINT64_C(0x9e3779b97f4a7c15) >> pgal_leaves_shift;; i++) {
        const struct pgal_leaf *e =
            &pgal_leaves[i & ((UINT64_C(1) << (64 - pgal_leaves_shift)) - 1)];
        const u64 found = __atomic_load_n(&e->address, __ATOMIC_ACQUIRE);
        if (PGG_LIKELY(found == address))
            return e->node;
        if (!found)
            return 0;
    }
}

/* Number of the frame below another one, or 0. */
PGG_INLINE u32 pgal_node_below(u32 node, u64 address)
{
    const u32 first = pgal_nodes[node].first;
    for (u32 i = 0; i < pgal_nodes[node].below; i++)
        if (PGG_LIKELY(pgal_nodes[first + i].address == address))
            return first + i;
    return 0;
}

u32 pgal_group_of_deeper(u32 node, const void *frame);
u32 pgal_group_of_unknown(u64 address);
extern u32 pgal_modules_missing; /* modules of the plan that are not loaded yet */

/* The group of what the caller of the function with this frame address allocates. */
PGG_INLINE u32 pgal_group_of_stack(const void *frame)
{
    if (PGG_LIKELY(!pgal_leaves))
        return 0;
    const u64 address = ((const u64 *)frame)[1] - 1;
    const u32 node = pgal_leaf_find(address);
    if (!node)
        return PGG_UNLIKELY(pgal_modules_missing) ? pgal_group_of_unknown(address) : 0;
    if (!pgal_nodes[node].depth)
        return pgal_nodes[node].group;
    return pgal_group_of_deeper(node, frame);
}

#pragma GCC visibility pop
#endif
