/* Where counts of accesses through one pointer are added to memory.
 *
 * Accesses through one pointer are accesses to one object, so it does not matter to which of its
 * counters they are added, nor when, as long as it is before a place where the object may end: a
 * barrier. Until then they are pending. This finds where to keep them pending, and where to write
 * them, so that each is written once on every path, and never more often than it was counted. */
#ifndef PGC_PLAN_PENDING_H
#define PGC_PLAN_PENDING_H

#include "plan_graph.h"

/* The part of the problem that is the same for all pointers of a function. Barriers cut a block
 * into segments. */
struct pgc_flow {
    struct pgc_graph graph;
    uint32_t *segments; /* of a block: barriers in it, and 1 */
    bool *open;         /* of a block: code can be put onto the edges out of it */
    uint32_t *carried;  /* of a header: pointers that are counted in registers around its loop */
};

void pgc_flow_open(struct pgc_flow *f, uint32_t blocks);
void pgc_flow_close(struct pgc_flow *f);

/* All accesses through the pointer in one segment, in the order of blocks and segments. */
struct pgc_group {
    uint32_t block, segment;
    uint32_t weight; /* counts, at least 1 */
};

enum pgc_pending {
    PGC_NOTHING, /* is pending */
    PGC_PERHAPS, /* a count that may be 0: there may have been no access */
    PGC_SURELY,
};

#define PGC_VARIES UINT32_MAX /* a count that is not known to the compiler */

enum pgc_place { PGC_AT_GROUP, PGC_AT_END, PGC_ON_EDGE };

struct pgc_update {
    enum pgc_place place;
    uint32_t index;  /* of the group, the block or the edge */
    uint32_t amount; /* or PGC_VARIES */
    bool guarded;    /* the count may be 0, and then there may be no address to add it at */
};

/* The pending count at the start of a block: its kind, and its value; and the same for its end. */
struct pgc_block_plan {
    enum pgc_pending in, out;
    uint32_t amount_in, amount_out;
    uint32_t head, tail; /* index of the group before the first barrier, after the last; or none */
    bool wanted_in, wanted_out; /* a group may follow before a barrier */
    bool sure_in;               /* one does on every path */
    bool listed;
};

/* Opened once for a function, and made for one pointer after the other. */
struct pgc_plan {
    struct pgc_flow *flow;
    const struct pgc_group *groups;
    uint32_t n_groups, home;
    struct pgc_block_plan *of; /* by block */
    uint32_t *list, n_listed;  /* blocks that have anything of the pointer, in reverse postorder */
    struct pgc_update *updates;
    size_t n_updates, capacity;
};

void pgc_plan_open(struct pgc_plan *p, struct pgc_flow *flow);
void pgc_plan_close(struct pgc_plan *p);
/* `home` is the block where the pointer comes from; it dominates those of all groups. */
void pgc_plan_make(struct pgc_plan *p, uint32_t home, const struct pgc_group *groups,
                   uint32_t n_groups);

/* The pending count continues along the edge, and is not written on it. */
bool pgc_flows(const struct pgc_plan *p, const struct pgc_edge *edge);

#endif
