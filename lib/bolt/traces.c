/* Branches, each with how far control then ran. */
#include "traces.h"

#include "hash.h"
#include "saturate.h"

#include <stdlib.h>

static bool is_same(const struct pgk_trace *a, const struct pgk_trace *b)
{
    return a->from == b->from && a->to == b->to && a->end == b->end;
}

bool pgk_traces_add(struct pgk_traces *traces, const struct pgk_trace *trace)
{
    uint64_t hash = pgk_hash_pair(pgk_hash_pair(trace->from, trace->to), trace->end);
    PGK_INDEX_FOR (&traces->index, hash, i) {
        struct pgk_trace *t = &traces->list.v[i];
        if (is_same(t, trace)) {
            t->count = pgk_add_saturated(t->count, trace->count);
            t->mispredicted = pgk_add_saturated(t->mispredicted, trace->mispredicted);
            return true;
        }
    }
    return pgk_vec_push(&traces->list, *trace) &&
           pgk_index_add(&traces->index, hash, (uint32_t)traces->list.n - 1);
}

static int compare_traces(const void *a, const void *b)
{
    const struct pgk_trace *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

void pgk_traces_sort(struct pgk_traces *traces)
{
    pgk_index_free(&traces->index);
    if (traces->list.n)
        qsort(traces->list.v, traces->list.n, sizeof *traces->list.v, compare_traces);
}

void pgk_traces_free(struct pgk_traces *traces)
{
    pgk_index_free(&traces->index);
    pgk_vec_free(&traces->list);
}
