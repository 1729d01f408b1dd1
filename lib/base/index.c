/* Hash index: insertion and growth; lookup is inline in the header. */
#include "index.h"

#include <assert.h>

enum { FIRST_SLOTS = 16 };

/* At most 0.6 full: an unsuccessful search then looks at 3.6 slots on average, which
 * mostly share a cache line. Huge pages were tried: slower to fill, no faster to search. */
static bool fits(uint64_t used, uint64_t slots)
{
    return used * 5 <= slots * 3;
}

static void put(struct pgk_index *ix, uint32_t tag, uint32_t pos_plus_1)
{
    assert(ix->used < ix->mask);
    uint32_t i = tag >> ix->shift;
    while (ix->slots[i & ix->mask].pos)
        i++;
    ix->slots[i & ix->mask] = (struct pgk_index_slot){.tag = tag, .pos = pos_plus_1};
}

static bool grow(struct pgk_index *ix, uint64_t slots)
{
    if (slots > SIZE_MAX / sizeof *ix->slots)
        return false;
    struct pgk_index new = {.mask = (uint32_t)(slots - 1), .used = ix->used};
    new.shift = (uint32_t)__builtin_clz(new.mask);
    new.slots = pgk_mem_table((size_t)slots, sizeof *new.slots);
    if (!new.slots)
        return false;

    if (ix->slots) {
        /* Starts after an empty slot, so that a run that wraps around stays in order. */
        uint32_t gap = 0;
        while (ix->slots[gap].pos)
            gap++;
        for (uint32_t i = gap + 1; (i & ix->mask) != gap; i++) {
            const struct pgk_index_slot *s = &ix->slots[i & ix->mask];
            if (s->pos)
                put(&new, s->tag, s->pos);
        }
    }
    pgk_mem_free(ix->slots);
    *ix = new;
    return true;
}

bool pgk_index_reserve(struct pgk_index *ix, uint32_t count)
{
    uint64_t slots = ix->slots ? (uint64_t)ix->mask + 1 : 0;
    uint64_t want = slots ? slots : FIRST_SLOTS;
    while (!fits(count, want) && want <= UINT32_MAX)
        want *= 2;
    if (want != slots)
        return grow(ix, want);
    /* The largest table there is may fill up beyond 0.6, but not to the last slot. */
    return count < slots;
}

bool pgk_index_add(struct pgk_index *ix, uint64_t hash, uint32_t pos)
{
    if (pos == PGK_INDEX_NONE || ix->used == UINT32_MAX || !pgk_index_reserve(ix, ix->used + 1))
        return false;
    put(ix, pgk_index_tag(hash), pos + 1);
    ix->used++;
    return true;
}

void pgk_index_free(struct pgk_index *ix)
{
    pgk_mem_free(ix->slots);
    *ix = (struct pgk_index){0};
}
