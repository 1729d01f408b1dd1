/* Probes of a file that is open already, and what an index over all or some of its functions can
 * be asked; see the public probe.h.
 *
 * Nodes and probes are numbers 0 .. count-1 of an index, in the order of the section: a node's
 * probes, then its children. */
#ifndef PGK_PROBES_H
#define PGK_PROBES_H

#include "elf_file.h"
#include "pgokit/probe.h"

#define PGK_PROBE_NONE UINT32_MAX /* no node, no descriptor, no probe */

/* No node of a tree is deeper than this many callers. */
enum {
    PGK_PROBE_MAX_DEPTH = 2000, /* callers */
};

/* As pgk_probes_open; `elf` must stay open. */
int pgk_probes_open_elf(struct pgk_probes **probes, const struct pgk_elf *elf,
                        struct pgk_err *err);

/* ---- descriptors: every function that was instrumented, also without code ---- */

/* A function as its descriptor has it. Does not grow. */
struct pgk_probe_desc {
    uint64_t guid;    /* low 64 bits of the MD5 of the name */
    uint64_t hash;    /* checksum of the control flow graph */
    const char *name; /* linkage name without suffixes; not terminated */
    uint32_t name_len; /* bytes of it */
};
/* In the order of the file; an inline function may stand there several times. */
size_t pgk_probe_descs(const struct pgk_probes *probes);
/* Descriptor 0 <= number < pgk_probe_descs(). */
struct pgk_probe_desc pgk_probe_desc_at(const struct pgk_probes *probes, size_t number);
/* Number of the first descriptor of a function, or PGK_PROBE_NONE. */
uint32_t pgk_probe_desc_by_guid(const struct pgk_probes *probes, uint64_t guid);

/* ---- roots: bodies that were not inlined ---- */

/* A body that was not inlined. Does not grow. */
struct pgk_probe_root {
    uint64_t guid; /* of its function */
    uint64_t low, high;   /* lowest and highest address of its probes; 0 without */
    uint64_t offset;      /* of the body in the file */
    uint32_t probes, nodes; /* how many are in it, itself among the nodes */
    bool located;         /* false: no symbol says where its code is, so it is left out */
};
/* Number of roots, located or not. */
size_t pgk_probe_roots(const struct pgk_probes *probes);
/* Root 0 <= number < pgk_probe_roots(). */
struct pgk_probe_root pgk_probe_root_at(const struct pgk_probes *probes, size_t number);

/* ---- an index; only what is asked for is decoded ---- */

/* Of the roots with these GUIDs. */
int pgk_probe_index_functions(struct pgk_probe_index **index, const struct pgk_probes *probes,
                              const uint64_t *guids, size_t count, struct pgk_err *err);
/* A range of addresses. */
struct pgk_probe_range {
    uint64_t low, high; /* the first address, and the first one behind the range */
};
/* `ranges` ascend and do not overlap. */
int pgk_probe_index_ranges(struct pgk_probe_index **index, const struct pgk_probes *probes,
                           const struct pgk_probe_range *ranges, size_t count,
                           struct pgk_err *err);
/* What a probe marks. */
enum pgk_probe_type {
    PGK_PROBE_BLOCK, /* a basic block */
    PGK_PROBE_INDIRECT_CALL, /* a call through a pointer */
    PGK_PROBE_DIRECT_CALL, /* a call of a known function */
    PGK_PROBE_TYPES, /* number of them */
};
const char *pgk_probe_type_name(enum pgk_probe_type type); /* "Block", "IndirectCall", ... */

/* A probe at an address. Does not grow. */
struct pgk_probe {
    uint64_t addr; /* link-time address */
    uint32_t node; /* the copy of its function */
    uint32_t index;         /* number within its function; 1 is the entry */
    uint32_t discriminator; /* flow-sensitive; 0 none */
    enum pgk_probe_type type; /* what it marks */
};
/* A copy of a function. Does not grow. */
struct pgk_probe_node {
    uint64_t guid; /* of the function */
    uint32_t desc;               /* descriptor of the function */
    uint32_t parent;             /* PGK_PROBE_NONE: not inlined */
    uint32_t site;               /* call probe of the parent; without parent 0 */
    uint32_t first_probe, probes; /* its own probes: the first one, and how many */
};
/* Number of probes of an index. */
size_t pgk_probe_count(const struct pgk_probe_index *index);
/* Number of nodes of an index. */
size_t pgk_probe_node_count(const struct pgk_probe_index *index);
/* Probe 0 <= probe < pgk_probe_count(). */
struct pgk_probe pgk_probe_get(const struct pgk_probe_index *index, uint32_t probe);
/* Node 0 <= node < pgk_probe_node_count(). */
struct pgk_probe_node pgk_probe_node_at(const struct pgk_probe_index *index, uint32_t node);

/* Descriptor, parent and site of a node, without looking for its probes. */
uint32_t pgk_probe_function(const struct pgk_probe_index *index, uint32_t node);
/* The node that it is inlined into, or PGK_PROBE_NONE. */
uint32_t pgk_probe_parent(const struct pgk_probe_index *index, uint32_t node);
/* The call probe of the parent; 0 without parent. */
uint32_t pgk_probe_site(const struct pgk_probe_index *index, uint32_t node);

/* Probes by address; of one address in the order of the section. */
uint32_t pgk_probe_by_address(const struct pgk_probe_index *index, size_t position);
/* The address of the probe at this position of pgk_probe_by_address(). */
uint64_t pgk_probe_address_at(const struct pgk_probe_index *index, size_t position);
/* Position of the first probe at `addr` or behind it. */
size_t pgk_probe_lower_bound(const struct pgk_probe_index *index, uint64_t addr);
/* Probes at an address: returns how many there are, *first is the position of the first. */
size_t pgk_probe_at(const struct pgk_probe_index *index, uint64_t addr, size_t *first);
/* First call probe at an address, or PGK_PROBE_NONE. */
uint32_t pgk_probe_call_at(const struct pgk_probe_index *index, uint64_t addr);

/* A caller that a node is inlined into. Does not grow. */
struct pgk_probe_frame {
    uint32_t desc; /* the caller */
    uint32_t site; /* its call probe */
};
/* Callers that a node is inlined into, outermost first: fills at most `max` (the outermost),
 * returns how many there are. */
size_t pgk_probe_context(const struct pgk_probe_index *index, uint32_t node,
                         struct pgk_probe_frame *frames, size_t max);
/* Next node behind `after` (PGK_PROBE_NONE: the first of all) that is a copy of the function, or
 * PGK_PROBE_NONE. */
uint32_t pgk_probe_next_copy(const struct pgk_probe_index *index, uint64_t guid, uint32_t after);
/* How often the code of a probe was copied (unrolled, duplicated) within its node: 1 or more.
 * Counts of the copies add up to the count of the source. */
uint32_t pgk_probe_copies(const struct pgk_probe_index *index, uint32_t probe);

#endif
