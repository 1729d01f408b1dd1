/* Lists of records: size classes of memory, adding, working in of tails. */
#include "sample_recs.h"

#include "saturate.h"

#include <assert.h>
#include <stdlib.h>

/* 1, 2, 3, 4, 6, 8, 12, 16, ... records: at most a third of a list is slack. */
static uint32_t capacity(uint32_t size_class)
{
    if (size_class < 2)
        return size_class + 1;
    return (size_class & 1 ? UINT32_C(4) : UINT32_C(3)) << (size_class - 2) / 2;
}

enum { LARGEST_CLASS = 61 }; /* 2^31 records */

static void give_back(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs)
{
    assert(!recs->v || recs->n <= capacity(recs->size_class));
    if (!recs->v)
        return;
    memcpy(recs->v, &heap->free[recs->size_class], sizeof(void *));
    heap->free[recs->size_class] = recs->v;
}

static struct pgk_sample_rec *take(struct pgk_rec_heap *heap, uint32_t size_class)
{
    struct pgk_sample_rec *v = heap->free[size_class];
    if (v) {
        memcpy(&heap->free[size_class], v, sizeof(void *));
        return v;
    }
    return pgk_arena_alloc(&heap->arena, capacity(size_class), sizeof *v);
}

bool pgk_recs_reserve(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs, uint64_t n)
{
    if (recs->v && n <= capacity(recs->size_class))
        return true;
    uint32_t size_class = recs->v ? recs->size_class : 0;
    while (size_class <= LARGEST_CLASS && capacity(size_class) < n)
        size_class++;
    struct pgk_sample_rec *v = size_class <= LARGEST_CLASS ? take(heap, size_class) : NULL;
    if (!v)
        return false;
    if (recs->n)
        memcpy(v, recs->v, recs->n * sizeof *v);
    give_back(heap, recs);
    recs->v = v;
    recs->size_class = size_class;
    return true;
}

void pgk_recs_clear(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs)
{
    give_back(heap, recs);
    *recs = (struct pgk_sample_recs){0};
}

void pgk_rec_heap_free(struct pgk_rec_heap *heap)
{
    pgk_arena_free(&heap->arena);
    pgk_vec_free(&heap->scratch);
    memset(heap->free, 0, sizeof heap->free);
}

static int compare(const void *a, const void *b)
{
    return pgk_rec_compare(a, b);
}

/* Where the order that begins at `i` ends. */
static size_t end_of_run(const struct pgk_sample_rec *v, size_t i, size_t n)
{
    do
        i++;
    while (i < n && pgk_rec_compare(&v[i - 1], &v[i]) < 0);
    return i;
}

enum { SHORT_RUN = 256 };

/* v[0 .. n) and the `more` records after them are each in order. */
static void merge_runs(struct pgk_sample_rec *v, size_t n, size_t more)
{
    struct pgk_sample_rec second[SHORT_RUN];
    memcpy(second, v + n, more * sizeof *v);
    for (size_t to = n + more; more;) {
        if (n && pgk_rec_compare(&v[n - 1], &second[more - 1]) > 0)
            v[--to] = v[--n];
        else
            v[--to] = second[--more];
    }
}

size_t pgk_recs_sort(struct pgk_sample_rec *v, size_t n)
{
    size_t first = n ? end_of_run(v, 0, n) : 0, kept = 0;
    if (first == n)
        return n;
    if (n - first <= SHORT_RUN && end_of_run(v, first, n) == n)
        merge_runs(v, first, n - first);
    else
        qsort(v, n, sizeof *v, compare);
    for (size_t i = 0; i < n; i++) {
        if (kept && !pgk_rec_compare(&v[kept - 1], &v[i]))
            v[kept - 1].count = pgk_add_saturated(v[kept - 1].count, v[i].count);
        else
            v[kept++] = v[i];
    }
    return kept;
}

bool pgk_recs_settle(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs)
{
    assert(recs->sorted <= recs->n);
    uint32_t tail = recs->n - recs->sorted;
    if (!tail)
        return true;
    heap->scratch.n = 0;
    if (!pgk_vec_reserve(&heap->scratch, tail))
        return false;
    struct pgk_sample_rec *t = heap->scratch.v;
    memcpy(t, recs->v + recs->sorted, tail * sizeof *t);
    size_t nt = pgk_recs_sort(t, tail), ns = recs->sorted;

    /* From the back, so that no record is overwritten before it has moved. Keys of the tail
     * are not in the sorted part. */
    size_t to = ns + nt;
    recs->n = recs->sorted = (uint32_t)to;
    while (nt) {
        if (ns && pgk_rec_compare(&recs->v[ns - 1], &t[nt - 1]) > 0)
            recs->v[--to] = recs->v[--ns];
        else
            recs->v[--to] = t[--nt];
    }
    return true;
}

/* A tail costs a sort of itself and a walk over all; so it may grow with the list. */
static bool tail_is_long(const struct pgk_sample_recs *recs)
{
    return recs->n - recs->sorted > 16 + recs->sorted / 8;
}

/* First position from `i` on in the sorted part that is not below `key`: steps, then strides,
 * then halves, as most keys are near and lists may be long. */
static uint32_t seek(const struct pgk_sample_recs *recs, uint32_t i,
                     const struct pgk_sample_rec *key)
{
    for (int steps = 0; steps < 4; steps++, i++)
        if (i >= recs->sorted || pgk_rec_compare(&recs->v[i], key) >= 0)
            return i;
    uint32_t stride = 8, low = i, high = recs->sorted;
    while (high - low > stride) {
        if (pgk_rec_compare(&recs->v[low + stride], key) >= 0) {
            high = low + stride;
            break;
        }
        low += stride;
        stride *= 2;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pgk_rec_compare(&recs->v[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool append(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs,
                   struct pgk_sample_rec rec)
{
    if (!pgk_recs_reserve(heap, recs, (uint64_t)recs->n + 1))
        return false;
    bool in_order = recs->sorted == recs->n &&
                    (!recs->n || pgk_rec_compare(&recs->v[recs->n - 1], &rec) < 0);
    recs->v[recs->n++] = rec;
    if (in_order)
        recs->sorted = recs->n;
    return true;
}

bool pgk_recs_add(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs,
                  struct pgk_sample_rec rec)
{
    /* The end of the sorted part is looked at first: what is built in order is appended. */
    bool behind = !recs->sorted || pgk_rec_compare(&recs->v[recs->sorted - 1], &rec) < 0;
    uint32_t i = behind ? recs->sorted : seek(recs, 0, &rec);
    if (i < recs->sorted && !pgk_rec_compare(&recs->v[i], &rec)) {
        recs->v[i].count = pgk_add_saturated(recs->v[i].count, rec.count);
        return true;
    }
    if (!append(heap, recs, rec))
        return false;
    return !tail_is_long(recs) || pgk_recs_settle(heap, recs);
}

static bool copy_weighted(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs,
                          const struct pgk_sample_rec *v, size_t n, uint64_t weight)
{
    if (!pgk_recs_reserve(heap, recs, n))
        return false;
    memcpy(recs->v, v, n * sizeof *v);
    if (weight != 1)
        for (size_t i = 0; i < n; i++)
            recs->v[i].count = pgk_multiply_saturated(v[i].count, weight);
    recs->n = recs->sorted = (uint32_t)n;
    return true;
}

bool pgk_recs_add_sorted(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs,
                         const struct pgk_sample_rec *v, size_t n, uint64_t weight)
{
    if (!n)
        return true;
    if (!recs->n)
        return copy_weighted(heap, recs, v, n, weight);
    for (size_t k = 0, i = 0; k < n; k++) {
        struct pgk_sample_rec rec = v[k];
        if (weight != 1)
            rec.count = pgk_multiply_saturated(rec.count, weight);
        i = seek(recs, (uint32_t)i, &rec);
        if (i < recs->sorted && !pgk_rec_compare(&recs->v[i], &rec)) {
            recs->v[i].count = pgk_add_saturated(recs->v[i].count, rec.count);
            i++;
        } else if (!append(heap, recs, rec)) {
            return false;
        }
    }
    return !tail_is_long(recs) || pgk_recs_settle(heap, recs);
}

const struct pgk_sample_rec *pgk_recs_find(const struct pgk_sample_recs *recs, uint64_t loc,
                                           uint32_t what)
{
    assert(recs->sorted == recs->n); /* settled: the tail is not looked at */
    struct pgk_sample_rec key = {.loc = loc, .what = what};
    uint32_t i = seek(recs, 0, &key);
    return i < recs->sorted && !pgk_rec_compare(&recs->v[i], &key) ? &recs->v[i] : NULL;
}
