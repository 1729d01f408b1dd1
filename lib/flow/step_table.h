/* Finds a number of 32 bits for a step: a branch `from`, `to`, and the `end` of what ran after it.
 *
 * Open addressing, linear probing; no removal. An entry holds key and value, four to a cache line,
 * for one is looked up for every branch that was sampled. At most half full. */
#ifndef PGK_STEP_TABLE_H
#define PGK_STEP_TABLE_H

#include "compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pgk_step_entry {
    uint32_t from, to, end;
    uint32_t value; /* 0: free */
};

struct pgk_step_table {
    struct pgk_step_entry *v; /* NULL: empty */
    uint32_t mask;  /* number of entries - 1 */
    uint32_t shift; /* home = top bits of the hash */
    uint32_t used;
};

static inline uint32_t pgk_step_home(const struct pgk_step_table *t, uint32_t from, uint32_t to,
                                     uint32_t end)
{
    uint64_t key = from * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)end << 32 | to);
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) >> t->shift;
}

static inline struct pgk_step_entry *pgk_step_table_find_at(const struct pgk_step_table *t,
                                                            uint32_t home, uint32_t from,
                                                            uint32_t to, uint32_t end)
{
    for (uint32_t i = home;; i++) {
        struct pgk_step_entry *e = &t->v[i & t->mask];
        if (PGK_LIKELY(((e->from ^ from) | (e->to ^ to) | (e->end ^ end)) == 0) || !e->value)
            return e;
    }
}

/* Where the step is, or would be; the table must not be empty. */
static inline struct pgk_step_entry *pgk_step_table_find(const struct pgk_step_table *t,
                                                         uint32_t from, uint32_t to, uint32_t end)
{
    return pgk_step_table_find_at(t, pgk_step_home(t, from, to, end), from, to, end);
}

/* As pgk_step_table_find, but an entry that is missing is added; its value is to be set before the
 * next call. NULL when out of memory. Entries move. */
struct pgk_step_entry *pgk_step_table_need(struct pgk_step_table *t, uint32_t from, uint32_t to,
                                           uint32_t end);
void pgk_step_table_free(struct pgk_step_table *t);

#endif
