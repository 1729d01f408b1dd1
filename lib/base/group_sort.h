/* Sorts records of which few belong to one group: by counting first, then each group on its own.
 *
 * A record begins with the number of its group, a uint32_t; `compare` orders by that first. For
 * numbers of groups that run up to far more than there are records, or without memory, it is
 * qsort. To be inlined for a record of known size. */
#ifndef PGK_GROUP_SORT_H
#define PGK_GROUP_SORT_H

#include "mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int pgk_compare_fn(const void *a, const void *b);

static inline uint32_t pgk_group_of(const char *record)
{
    uint32_t group;
    memcpy(&group, record, sizeof group);
    return group;
}

/* Moves a few records to their places among those at `to`, of which none is there yet. */
static inline void pgk_sort_few(char *to, const char *from, size_t n, size_t size,
                                pgk_compare_fn *compare)
{
    for (size_t i = 0; i < n; i++) {
        const char *x = from + i * size;
        char *at = to + i * size;
        for (; at > to && compare(at - size, x) > 0; at -= size)
            memcpy(at, at - size, size);
        memcpy(at, x, size);
    }
}

static inline void pgk_sort_groups(void *records, size_t n, size_t size, pgk_compare_fn *compare)
{
    enum { MANY = 256, FEW = 32 };
    char *v = records, *scratch = NULL;
    size_t *end = NULL; /* of each group; before that, where its next record goes */
    uint32_t last = 0;
    for (size_t i = 0; i < n; i++)
        last = pgk_group_of(v + i * size) > last ? pgk_group_of(v + i * size) : last;
    if (n >= MANY && last / 4 <= n && (end = pgk_mem_zalloc((size_t)last + 2, sizeof *end)))
        scratch = pgk_mem_alloc(n, size);
    if (scratch) {
        for (size_t i = 0; i < n; i++)
            end[pgk_group_of(v + i * size) + 1]++;
        for (size_t k = 0; k < last; k++)
            end[k + 1] += end[k];
        for (size_t i = 0; i < n; i++)
            memcpy(scratch + end[pgk_group_of(v + i * size)]++ * size, v + i * size, size);
        for (size_t k = 0, start = 0; k <= last; start = end[k++]) {
            size_t in_group = end[k] - start;
            char *to = v + start * size, *from = scratch + start * size;
            if (in_group <= FEW) {
                pgk_sort_few(to, from, in_group, size, compare);
            } else {
                memcpy(to, from, in_group * size);
                qsort(to, in_group, size, compare);
            }
        }
    } else if (n) {
        qsort(v, n, size, compare);
    }
    pgk_mem_free(end);
    pgk_mem_free(scratch);
}

#endif
