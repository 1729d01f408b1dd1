/* Growth of the table of steps; lookup is inline in the header. */
#include "step_table.h"

#include "mem.h"

#include <string.h>

enum { FIRST_ENTRIES = 1 << 10, MOST_ENTRIES = 1 << 30 };

/* Large ones are on large pages: a page table walk for each search costs more than the search. */
static struct pgk_step_entry *new_entries(uint32_t n)
{
    size_t bytes = n * sizeof(struct pgk_step_entry);
    if (bytes < PGK_MEM_LARGE)
        return pgk_mem_zalloc(n, sizeof(struct pgk_step_entry));
    struct pgk_step_entry *v = pgk_mem_large(bytes);
    return v ? memset(v, 0, bytes) : NULL;
}

static bool grow(struct pgk_step_table *t)
{
    uint32_t entries = t->v ? 2 * (t->mask + 1) : FIRST_ENTRIES;
    if (entries > MOST_ENTRIES)
        return false;
    struct pgk_step_table new = {.v = new_entries(entries),
                                 .mask = entries - 1,
                                 .shift = (uint32_t)__builtin_clz(entries - 1),
                                 .used = t->used};
    if (!new.v)
        return false;
    for (uint32_t i = 0; t->v && i <= t->mask; i++) {
        const struct pgk_step_entry *e = &t->v[i];
        if (e->value)
            *pgk_step_table_find(&new, e->from, e->to, e->end) = *e;
    }
    pgk_mem_free(t->v);
    *t = new;
    return true;
}

struct pgk_step_entry *pgk_step_table_need(struct pgk_step_table *t, uint32_t from, uint32_t to,
                                           uint32_t end)
{
    if ((!t->v || t->used > t->mask / 2) && !grow(t))
        return NULL;
    struct pgk_step_entry *e = pgk_step_table_find(t, from, to, end);
    if (!e->value) {
        *e = (struct pgk_step_entry){from, to, end, 0};
        t->used++;
    }
    return e;
}

void pgk_step_table_free(struct pgk_step_table *t)
{
    pgk_mem_free(t->v);
    *t = (struct pgk_step_table){0};
}
