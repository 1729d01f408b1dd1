/* An index in memory: 12 bytes a probe, 4 for its place in the order by address, 12 a node.
 * Probes ascend by node, so that those of a node are found by searching. */
#ifndef PGK_PROBE_INDEX_H
#define PGK_PROBE_INDEX_H

#include "probe_walk.h"

enum {
    PGK_PROBE_TYPE_BITS = 3,
    PGK_PROBE_DISCRIMINATOR_BIT = 4, /* there is one in the side table */
    PGK_PROBE_INDEX_SHIFT = 3,
};

struct pgk_probe_packed {
    uint32_t addr_off; /* from the index's base */
    uint32_t node;
    uint32_t bits;
};

struct pgk_probe_packed_node {
    uint32_t parent, site, desc;
};

struct pgk_probe_value {
    uint32_t probe, value;
};

struct pgk_probe_index {
    const struct pgk_probes *source;
    uint64_t base, span;                  /* of the code; addresses are base .. base + span */
    struct pgk_probe_packed *probes;
    struct pgk_probe_packed_node *nodes;
    uint32_t *order;                      /* probes by address */
    size_t n_probes, n_nodes;
    PGK_VEC(struct pgk_probe_value) discriminators; /* ascending */
};

#endif
