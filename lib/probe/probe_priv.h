/* Shared by the files of this room: the opened sections, and the walk over a body. */
#ifndef PGK_PROBE_PRIV_H
#define PGK_PROBE_PRIV_H

#include "cursor.h"
#include "index.h"
#include "probes.h"
#include "vec.h"

#define PGK_PROBE_FORMAT "pseudo probes"

/* Bits of the byte that a probe packs type and attributes into. */
enum {
    PGK_PROBE_TYPE_MASK = 0x0f,
    PGK_PROBE_SENTINEL = 0x20,          /* names the symbol of the code; no probe itself */
    PGK_PROBE_HAS_DISCRIMINATOR = 0x40,
    PGK_PROBE_DELTA = 0x80,             /* the address is relative to the last one */
    PGK_PROBE_ATTRIBUTES = PGK_PROBE_SENTINEL | PGK_PROBE_HAS_DISCRIMINATOR | PGK_PROBE_DELTA,
};

/* Where the code of a symbol is; the GUID is that of its name. */
struct pgk_probe_start {
    uint64_t guid, addr, size;
    bool rooted; /* a root of this GUID leads here by its chain */
};

struct pgk_probe_section {
    const char *file; /* the program or its debug file */
    const uint8_t *bytes;
    size_t size;
    uint64_t file_off; /* of the first byte */
};

struct pgk_probe_place {
    struct pgk_probe_root root;
    uint64_t start;   /* the address that the first delta is relative to */
    uint64_t lost;    /* the GUID that no symbol has; else 0 */
    uint64_t outside; /* probes that are not in the code */
    bool doubtful;    /* may start at its own symbol, see pgk_probe_walk_base */
    uint32_t section; /* position in `trees` */
    uint32_t at;      /* offset of the body in that section */
};

struct pgk_probes {
    struct pgk_elf *own; /* opened by pgk_probes_open, else NULL */
    const struct pgk_elf *elf;
    PGK_VEC(struct pgk_probe_section) trees;
    PGK_VEC(struct pgk_probe_desc) descs;
    struct pgk_index desc_index; /* by GUID; the first of each only */
    PGK_VEC(struct pgk_probe_start) starts;
    struct pgk_index start_index;
    PGK_VEC(struct pgk_probe_range) text; /* executable sections, ascending */
    PGK_VEC(struct pgk_probe_place) places;
    struct pgk_probes_totals totals;
    uint32_t depth;             /* of the deepest node, a root being 1 */
    struct pgk_err first_issue; /* of what is lost or outside */
};

int pgk_probe_descs_read(struct pgk_probes *p, const struct pgk_probe_section *section,
                         struct pgk_err *err);
int pgk_probe_starts_read(struct pgk_probes *p, struct pgk_err *err);
struct pgk_probe_start *pgk_probe_start_of(const struct pgk_probes *p, uint64_t guid);
/* A cursor at the root's first byte. */
void pgk_probe_cursor(const struct pgk_probes *p, const struct pgk_probe_place *place,
                      struct pgk_cursor *c);
/* Walks all bodies: counts, checks, finds their places. */
int pgk_probe_scan(struct pgk_probes *p, struct pgk_err *err);
/* "function NAME" or "function with GUID n" for messages; in `buf`. */
const char *pgk_probe_record(const struct pgk_probes *p, uint64_t guid, char buf[64]);

#endif
