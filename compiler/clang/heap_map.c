/* A hash table of addresses, with open addressing. */
#include "heap_map.h"

#include "plan_memory.h"

static size_t slot_of(const struct pgc_map *m, const void *key)
{
    size_t slot = (size_t)(((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20) & (m->size - 1);
    while (m->keys[slot] && m->keys[slot] != key)
        slot = (slot + 1) & (m->size - 1);
    return slot;
}

static void grow(struct pgc_map *m)
{
    struct pgc_map old = *m;
    m->size = old.size ? 2 * old.size : 64;
    m->keys = pgc_zeroed(m->size, sizeof *m->keys);
    m->numbers = pgc_zeroed(m->size, sizeof *m->numbers);
    for (size_t i = 0; i < old.size; i++)
        if (old.keys[i]) {
            size_t slot = slot_of(m, old.keys[i]);
            m->keys[slot] = old.keys[i];
            m->numbers[slot] = old.numbers[i];
        }
    pgc_map_close(&old);
}

uint32_t pgc_map_number(struct pgc_map *m, const void *key)
{
    if (m->n >= m->size / 2)
        grow(m);
    size_t slot = slot_of(m, key);
    if (!m->keys[slot]) {
        m->keys[slot] = key;
        m->numbers[slot] = m->n++;
    }
    return m->numbers[slot];
}

void pgc_map_close(struct pgc_map *m)
{
    free(m->keys);
    free(m->numbers);
    *m = (struct pgc_map){0};
}
