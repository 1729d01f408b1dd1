/* Counts of pairs of addresses. */
#include "counters.h"

#include "hash.h"
#include "saturate.h"
#include "search.h"

#include <stdlib.h>

bool pgk_pairs_add(struct pgk_pairs *pairs, uint64_t from, uint64_t to, uint64_t count)
{
    uint64_t hash = pgk_hash_pair(from, to);
    PGK_INDEX_FOR (&pairs->index, hash, i) {
        struct pgk_pair *p = &pairs->list.v[i];
        if (p->from == from && p->to == to) {
            p->count = pgk_add_saturated(p->count, count);
            return true;
        }
    }
    return pgk_vec_push(&pairs->list, (struct pgk_pair){from, to, count}) &&
           pgk_index_add(&pairs->index, hash, (uint32_t)pairs->list.n - 1);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct pgk_pair *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

void pgk_pairs_sort(struct pgk_pairs *pairs)
{
    pgk_index_free(&pairs->index);
    if (pairs->list.n)
        qsort(pairs->list.v, pairs->list.n, sizeof *pairs->list.v, compare_pairs);
}

size_t pgk_pairs_from(const struct pgk_pairs *pairs, uint64_t from)
{
    PGK_SEARCH(low, pairs->list.n, mid, pairs->list.v[mid].from < from)
    return low;
}

void pgk_pairs_free(struct pgk_pairs *pairs)
{
    pgk_index_free(&pairs->index);
    pgk_vec_free(&pairs->list);
}

void pgk_counters_free(struct pgk_counters *counters)
{
    pgk_pairs_free(&counters->ranges);
    pgk_pairs_free(&counters->branches);
}
