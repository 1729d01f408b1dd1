/* The plan: which group the objects of a call stack are in. */
#ifndef PGAL_PLAN_H
#define PGAL_PLAN_H

#include "guest_walk.h"
#include "pgal.h"

#pragma GCC visibility push(hidden)

/* Reads the file; what is wrong with it is said, and there is no plan then. So is a plan of which
 * nothing is loaded, unless other programs than that of the plan are expected to run with it. */
void pgal_plan_read(const char *path, bool others_are_expected);

/* Instead of a plan, for comparisons: deals calls out to so many groups by a hash of their
 * addresses. All of them are unknown then, so that nothing is slower without it. */
void pgal_plan_hash(u32 groups);

/* Bytes of a group's objects at the peak of the profile that was planned with; 0: there is no such
 * group. */
u64 pgal_planned_bytes(u32 group);

/* In a child: who held a lock in the parent is not here. */
void pgal_plan_after_fork(void);

/* A frame of the plan's trie: node 0 is the root. The children of a node follow it, each with its
 * own children after it, so that a walk along a chain of single frames knows where the next one is
 * without reading it.
 *
 * Frames of a function are mostly equally large. The places that the first walk to a node read are
 * recorded, in words above the stack pointer it began with: later walks compare these words, and no
 * load waits for another one. */
struct pgal_node {
    u64 address; /* of the call in the process; 0: its module is not loaded */
    struct pgg_rule rule; /* how to leave it */
    u32 size;             /* nodes, with all that are below it */
    u32 run;              /* struct pgal_run and PGAL_NOTED, in one word */
    uint16_t return_at;   /* where the next call's address is; 0: not noted */
    uint16_t read_at, read; /* where a frame pointer was read, and to where it pointed; 0: none */
    uint8_t group, depth;   /* depth: how many more frames of the stack can matter */
};
_Static_assert(sizeof(struct pgal_node) == 32, "two in each cache line");
/* So many frames from a node on are noted and left alike, and each has one call below it; the
 * furthest of their return addresses is in this word of the stack. */
struct pgal_run {
    u32 frames, reach;
};
#define PGAL_NOTED 1u /* or somebody is about to note it */
extern struct pgal_node *pgal_nodes;

/* Those below the root, by address: leaf frames. */
struct pgal_leaf {
    u64 address; /* 0: none */
    u32 node;
    uint8_t group, depth; /* as the node has them */
};
extern struct pgal_leaf *pgal_leaves; /* NULL: no plan */
extern u32 pgal_leaves_shift;         /* hashes have 64 bits less these */

PGG_INLINE struct pgal_leaf *pgal_leaf_slot(u64 address)
{
    return &pgal_leaves[address * UINT64_C(0x9e3779b97f4a7c15) >> pgal_leaves_shift];
}

/* Some calls have groups: a plan's, or by their hash. */
PGG_INLINE bool pgal_planned(void)
{
    return pgal_leaves;
}

extern u32 pgal_modules_missing; /* modules of the plan that are not loaded yet */
/* The group of a call that is no leaf, whose module may have been loaded since. */
u32 pgal_group_of_unknown(u64 address);
/* The group of a stack whose leaf is this node, of depth 1 and more: as the frames are noted, or by
 * their rules. */
u32 pgal_group_of_deeper(u32 node, const void *frame);
u32 pgal_group_by_rules(u32 node, const void *frame);
/* The node's, where the call below it is none of the plan. */
u32 pgal_group_of_unknown_below(const struct pgal_node *node, u64 call);

#pragma GCC visibility pop
#endif
