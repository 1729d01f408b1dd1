/* Hash index: finds the position of a record in an array that the caller owns.
 *
 *     uint64_t h = pgk_hash_pair(key.a, key.b);
 *     PGK_INDEX_FOR (&ix, h, i)          // i: positions whose hash matches
 *         if (same(&records.v[i], &key))
 *             return i;
 *     pgk_vec_push(&records, key) && pgk_index_add(&ix, h, records.n - 1)
 *
 * Open addressing, linear probing, 8 bytes a slot; no removal. Positions are
 * below PGK_INDEX_NONE. Not thread-safe for writing; concurrent reads are fine.
 *
 *      tag, 32 bits: the high half of hash * odd constant
 *     |--- home slot ---|---------- rest ----------|
 *
 * The home slot is the top bits of the tag, so the stored tag is all that growth
 * needs, and growth moves slots in order: both tables are walked front to back. */
#ifndef PGK_INDEX_H
#define PGK_INDEX_H

#include "compiler.h"
#include "mem.h"

#include <stdbool.h>
#include <stdint.h>

#define PGK_INDEX_NONE UINT32_MAX

struct pgk_index_slot {
    uint32_t tag;
    uint32_t pos; /* position + 1; 0: empty */
};

struct pgk_index {
    struct pgk_index_slot *slots;
    uint32_t mask;  /* number of slots - 1; 0 while there are none */
    uint32_t shift; /* home slot = tag >> shift */
    uint32_t used;
};

/* The multiplication lets every bit of the hash reach the top of the tag, so that even a
 * key that is its own hash is spread well. */
static inline uint32_t pgk_index_tag(uint64_t hash)
{
    return (uint32_t)((hash * 0x9e3779b97f4a7c15u) >> 32);
}

static inline uint32_t pgk_index_next(const struct pgk_index *ix, uint64_t hash, uint32_t *at)
{
    if (PGK_UNLIKELY(!ix->slots))
        return PGK_INDEX_NONE;
    uint32_t tag = pgk_index_tag(hash);
    for (uint32_t i = (tag >> ix->shift) + *at;; i++) {
        const struct pgk_index_slot *s = &ix->slots[i & ix->mask];
        if (!s->pos)
            return PGK_INDEX_NONE;
        if (s->tag == tag) {
            *at = i + 1 - (tag >> ix->shift);
            return s->pos - 1;
        }
    }
}

/* Brings in the slot that a search for `hash` will begin at. */
static inline void pgk_index_prefetch(const struct pgk_index *ix, uint64_t hash)
{
    if (PGK_LIKELY(ix->slots != NULL))
        __builtin_prefetch(&ix->slots[pgk_index_tag(hash) >> ix->shift]);
}

#define PGK_INDEX_FOR(ix, hash, i)                                             \
    for (uint32_t i##_at = 0, i = pgk_index_next((ix), (hash), &i##_at);       \
         i != PGK_INDEX_NONE; i = pgk_index_next((ix), (hash), &i##_at))

/* Adds position `pos` under `hash` (no check for doubles); false when out of memory,
 * which leaves the index as it was. */
bool pgk_index_add(struct pgk_index *ix, uint64_t hash, uint32_t pos);
/* Reserves space for `count` records in all; false when out of memory. */
bool pgk_index_reserve(struct pgk_index *ix, uint32_t count);
void pgk_index_free(struct pgk_index *ix);

#endif
