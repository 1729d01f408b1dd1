/* A hash table of addresses, with open addressing. */
#include "heap_map.h"

#include "plan_memory.h"

static struct pgc_map_row *row_of(const struct pgc_map *m, const void *thing, int64_t part)
{
    uint64_t mixed = (((uintptr_t)thing >> 4) + (uint64_t)part * 0xff51afd7ed558ccdu) *
                     0x9e3779b97f4a7c15u;
    size_t i = (size_t)(mixed >> 20) & (m->size - 1);
    while (m->rows[i].thing && (m->rows[i].thing != thing || m->rows[i].part != part))
        i = (i + 1) & (m->size - 1);
    return &m->rows[i];
}

static void grow(struct pgc_map *m)
{
    struct pgc_map old = *m;
    m->size = old.size ? 2 * old.size : 64;
    m->rows = pgc_zeroed(m->size, sizeof *m->rows);
    for (size_t i = 0; i < old.size; i++)
        if (old.rows[i].thing)
            *row_of(m, old.rows[i].thing, old.rows[i].part) = old.rows[i];
    pgc_map_close(&old);
}

uint32_t pgc_map_number(struct pgc_map *m, const void *thing, int64_t part)
{
    if (m->n >= m->size / 2)
        grow(m);
    struct pgc_map_row *row = row_of(m, thing, part);
    if (!row->thing)
        *row = (struct pgc_map_row){thing, part, m->n++};
    return row->number;
}

void pgc_map_close(struct pgc_map *m)
{
    free(m->rows);
    *m = (struct pgc_map){0};
}
