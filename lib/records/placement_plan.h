/* The file that groups objects for the allocator: docs/formats/placement-plan.md. The library
 * writes it and the allocator maps it. Little-endian, every struct without gaps, so that the bytes
 * are the structs. */
#ifndef PGK_PLACEMENT_PLAN_H
#define PGK_PLACEMENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "PGKAPLAN" in the order of the file, and "PGKPLACE", of plans before 0.1.0. */
#define PGK_PLACEMENT_MAGIC UINT64_C(0x4e414c50414b4750)
#define PGK_PLACEMENT_MAGIC_UNRELEASED UINT64_C(0x4543414c504b4750)
enum {
    PGK_PLACEMENT_VERSION = 1,
    PGK_PLACEMENT_MODULES_MAX = 255,
    PGK_PLACEMENT_NODES_MAX = 1 << 16,
    PGK_PLACEMENT_GROUPS_MAX = 14, /* with group 0, of all that is not in the plan */
    PGK_PLACEMENT_DEPTH_MAX = 16,  /* frames of a context */
    PGK_PLACEMENT_ID = 32,
};
/* Flag of a group: its objects live long and are hardly accessed, so that its pages can be paged
 * out. */
#define PGK_PLACEMENT_COLD UINT64_C(1)
/* Its objects are accessed as often as others or more, so that it is one for huge pages. */
#define PGK_PLACEMENT_HOT UINT64_C(2)

/* At the start; modules, groups and nodes follow in this order, and nothing else. */
struct pgk_placement_header {
    uint64_t magic;
    uint32_t version, n_modules, n_groups, n_nodes;
    uint64_t checksum; /* pgk_placement_sum() of all bytes after the header */
};

/* A program or library. Its addresses are those in its file. */
struct pgk_placement_module {
    uint64_t id_size; /* 1 to PGK_PLACEMENT_ID */
    uint8_t id[PGK_PLACEMENT_ID]; /* GNU build id */
};

/* The profile that the plan was made from, for people. */
struct pgk_placement_group {
    uint64_t contexts, bytes, objects; /* bytes: alive at the peak */
    uint64_t lifetime_ms;              /* mean of its objects */
    uint64_t flags;                    /* PGK_PLACEMENT_COLD */
};

/* A frame of contexts: the trie of their stacks, leaf first. Node 0 is the root, which has no
 * address. The parent of any other one has a smaller number, and parents rise, so that the children
 * of a node are adjacent. */
struct pgk_placement_node {
    uint64_t address; /* last byte of the call, in the addresses of the module's file */
    uint32_t parent;
    uint16_t module;
    uint16_t group; /* of contexts that go no deeper here */
};

/* FNV-1a over 64-bit words. */
static inline uint64_t pgk_placement_sum(const void *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t at = 0; at + sizeof sum <= size; at += sizeof sum) {
        uint64_t word;
        __builtin_memcpy(&word, (const char *)bytes + at, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
    }
    return sum;
}

static inline uint64_t pgk_placement_bytes(const struct pgk_placement_header *h)
{
    return sizeof *h + (uint64_t)h->n_modules * sizeof(struct pgk_placement_module) +
           (uint64_t)h->n_groups * sizeof(struct pgk_placement_group) +
           (uint64_t)h->n_nodes * sizeof(struct pgk_placement_node);
}

/* The parts of a file that was checked. */
struct pgk_placement {
    const struct pgk_placement_header *header;
    const struct pgk_placement_module *modules;
    const struct pgk_placement_group *groups;
    const struct pgk_placement_node *nodes;
};

/* A fault and its place: `found` and `expected` are numbers of the field. */
struct pgk_placement_fault {
    const char *field, *what;
    uint64_t offset;
};

static inline bool pgk_placement_wrong(struct pgk_placement_fault *fault, const char *field,
                                       const char *what, uint64_t offset)
{
    *fault = (struct pgk_placement_fault){field, what, offset};
    return false;
}

static inline bool pgk_placement_check_header(const struct pgk_placement_header *h, size_t size,
                                              struct pgk_placement_fault *fault)
{
    if (size < sizeof *h)
        return pgk_placement_wrong(fault, "header", "the file ends in it", size);
    if (h->magic == PGK_PLACEMENT_MAGIC_UNRELEASED)
        return pgk_placement_wrong(fault, "magic", "a pgokit before 0.1.0 wrote it", 0);
    if (h->magic != PGK_PLACEMENT_MAGIC)
        return pgk_placement_wrong(fault, "magic", "it is no plan", 0);
    if (h->version != PGK_PLACEMENT_VERSION)
        return pgk_placement_wrong(fault, "version", "another release of pgokit wrote it",
                                   offsetof(struct pgk_placement_header, version));
    if (!h->n_modules || h->n_modules > PGK_PLACEMENT_MODULES_MAX)
        return pgk_placement_wrong(fault, "number of modules", "it is out of range",
                                   offsetof(struct pgk_placement_header, n_modules));
    if (!h->n_groups || h->n_groups > PGK_PLACEMENT_GROUPS_MAX)
        return pgk_placement_wrong(fault, "number of groups", "it is out of range",
                                   offsetof(struct pgk_placement_header, n_groups));
    if (!h->n_nodes || h->n_nodes > PGK_PLACEMENT_NODES_MAX)
        return pgk_placement_wrong(fault, "number of frames", "it is out of range",
                                   offsetof(struct pgk_placement_header, n_nodes));
    if (pgk_placement_bytes(h) != size)
        return pgk_placement_wrong(fault, "size", "the file has more or fewer bytes than it says",
                                   size);
    if (pgk_placement_sum(h + 1, size - sizeof *h) != h->checksum)
        return pgk_placement_wrong(fault, "checksum", "the file is damaged",
                                   offsetof(struct pgk_placement_header, checksum));
    return true;
}

static inline bool pgk_placement_check_node(const struct pgk_placement_header *h, uint32_t at,
                                            const struct pgk_placement_node *n, uint64_t offset,
                                            struct pgk_placement_fault *fault)
{
    const uint32_t before = at ? n[-1].parent : 0;
    if (n->group >= h->n_groups)
        return pgk_placement_wrong(fault, "group of a frame", "there is none of this number",
                                   offset + offsetof(struct pgk_placement_node, group));
    if (n->module >= h->n_modules)
        return pgk_placement_wrong(fault, "module of a frame", "there is none of this number",
                                   offset + offsetof(struct pgk_placement_node, module));
    if (at ? n->parent >= at || n->parent < before : n->parent != 0)
        return pgk_placement_wrong(fault, "parent of a frame", "it is out of order",
                                   offset + offsetof(struct pgk_placement_node, parent));
    return true;
}

/* Finds the parts of a whole file, whose start is aligned to 8 bytes; false with what is wrong. */
static inline bool pgk_placement_check(const void *bytes, size_t size, struct pgk_placement *to,
                                       struct pgk_placement_fault *fault)
{
    const struct pgk_placement_header *h = (const struct pgk_placement_header *)bytes;
    if (!pgk_placement_check_header(h, size, fault))
        return false;
    to->header = h;
    to->modules = (const struct pgk_placement_module *)(h + 1);
    to->groups = (const struct pgk_placement_group *)(to->modules + h->n_modules);
    to->nodes = (const struct pgk_placement_node *)(to->groups + h->n_groups);
    for (uint32_t i = 0; i < h->n_modules; i++)
        if (!to->modules[i].id_size || to->modules[i].id_size > PGK_PLACEMENT_ID)
            return pgk_placement_wrong(fault, "size of a build id", "it is out of range",
                                       (uint64_t)((const char *)&to->modules[i] -
                                                  (const char *)bytes));
    for (uint32_t i = 0; i < h->n_nodes; i++)
        if (!pgk_placement_check_node(
                h, i, &to->nodes[i],
                (uint64_t)((const char *)&to->nodes[i] - (const char *)bytes), fault))
            return false;
    return true;
}

#endif
