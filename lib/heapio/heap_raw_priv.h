/* The state of reading a raw heap profile, which the files of the reader share. */
#ifndef PGK_HEAP_RAW_PRIV_H
#define PGK_HEAP_RAW_PRIV_H

#include "heap_raw.h"

#include "alive.h"
#include "hash.h"
#include "heap_raw_notes.h"
#include "heap_raw_samples.h"
#include "heap_raw_texts.h"
#include "heap_raw_times.h"

#include <inttypes.h>

struct pgk_raw_segment {
#define PGK_RAW_SEGMENT(name, type, first, meaning) uint64_t name;
#include "heap_raw.def"
#undef PGK_RAW_SEGMENT
    uint32_t module;
};

/* One stack id of the process. Blocks stay in the file until they are added to the model. */
struct pgk_raw_entry {
    uint64_t id;
    uint64_t off;           /* of its first block; of what names it, while there is none */
    struct pgk_mib *merged; /* where there are several blocks of it; else NULL */
    uint32_t node;          /* PGK_NODE_NONE until its stack is read */
    uint16_t version;       /* of the dump of the first block; 0: no object was closed so far */
    bool cut;               /* its stack has more frames than were kept */
};

/* A stack of the dump. */
struct pgk_raw_stack_ref {
    uint64_t off; /* of its id in the file */
    uint32_t entry, number;
};

/* The frame of a program counter; a process has few distinct ones, so that a small
 * table answers nearly all look-ups. */
struct pgk_raw_pc_slot {
    uint64_t pc;
    uint32_t frame; /* + 1; 0: empty */
};

/* The layout of dumps of one version. */
struct pgk_raw_file_layout {
    const struct pgk_raw_version *row; /* NULL: not met so far */
    struct pgk_raw_mib mib;
};

struct pgk_raw_reader {
    struct pgk_heap *heap;
    struct pgk_err *err;
    const uint8_t *bytes;
    uint64_t base_off;          /* of these in the file */
    struct pgk_cursor *c;
    uint32_t dump, version;
    uint32_t finished; /* dumps with notes that are no sheets */
    PGK_VEC(struct pgk_raw_entry) entries;
    struct pgk_index by_id;
    PGK_VEC(struct pgk_raw_segment) segments;
    bool segments_changed; /* from one dump to another */
    uint64_t notes;        /* flags of pgokit's runtime */
    bool noted;            /* there were some notes */
    bool cut_unknown;      /* which stacks were cut */
    uint64_t own_ns, own_bytes; /* and what it cost */
    bool sheet;            /* this dump is of one thread of a process that was interrupted */
    PGK_VEC(struct pgk_alive) alive; /* of the entries, as far as there are sheets */
    uint64_t objects_alive;
    struct pgk_raw_notes dump_notes; /* of this dump */
    struct pgk_raw_times_sum times;
    struct pgk_raw_samples samples;
    struct pgk_raw_texts texts;
    PGK_VEC(uint32_t) modules; /* by the number of a segment, of all dumps */
    uint32_t last_ms;      /* latest event of the sheets */
    struct pgk_raw_pc_slot *pcs;
    uint32_t pc_mask, pc_used;
    struct pgk_raw_file_layout layouts[PGK_RAW_NOW + 1]; /* by version */
    struct pgk_arena scratch;   /* of merged blocks */
    PGK_VEC(uint64_t) hist;     /* of the block that was read last */
    PGK_VEC(struct pgk_raw_stack_ref) stacks;
    PGK_VEC(uint32_t) path;     /* nodes of the stack that was added last, from the root on */
    PGK_VEC(uint32_t) frames;   /* of its upper part, which the one before does not share */
};

#define RECORD(r, what, i) PGK_F("dump %u, %s %" PRIu64, (r)->dump, (what), (uint64_t)(i) + 1)

/* Entry of a stack id. Files list ids in the same order in each section, so the
 * place of the one before is tried first. */
static inline uint32_t pgk_raw_entry_find(const struct pgk_raw_reader *r, uint64_t id,
                                          uint32_t guess)
{
    if (guess < r->entries.n && r->entries.v[guess].id == id)
        return guess;
    PGK_INDEX_FOR (&r->by_id, pgk_hash_u64(id), i)
        if (r->entries.v[i].id == id)
            return i;
    return PGK_INDEX_NONE;
}

bool pgk_raw_entry_add(struct pgk_raw_reader *r, const struct pgk_raw_entry *e);

static inline const struct pgk_raw_file_layout *pgk_raw_layout_of(struct pgk_raw_reader *r,
                                                                  uint32_t version)
{
    struct pgk_raw_file_layout *l = &r->layouts[version];
    if (!l->row) {
        l->row = pgk_raw_version(version);
        l->mib = pgk_raw_mib(l->row);
    }
    return l;
}

/* The result found at a file offset before. */
static inline const uint8_t *pgk_raw_bytes_at(const struct pgk_raw_reader *r, uint64_t off)
{
    return r->bytes + (off - r->base_off);
}

int pgk_raw_header_read(struct pgk_cursor *c, struct pgk_heap_raw_header *h, struct pgk_err *err,
                        const char *record);
/* The segments of the dump at `off`, which become modules of the model. */
int pgk_raw_segments_read(struct pgk_raw_reader *r, uint64_t off);
/* The stacks of the dump at `off`, which go into the tree of the model and give the entries their
 * nodes. */
int pgk_raw_stacks_read(struct pgk_raw_reader *r, uint64_t off);

#endif
