/* The records of one place in the order of LLVM's files. */
#include "sample_order.h"

#include "search.h"

#include <assert.h>

/* Targets by falling count, vtables in any case by rising name. */
static bool precedes(const struct pgk_sample *p, const struct pgk_sample_rec *a,
                     const struct pgk_sample_rec *b)
{
    if (pgk_rec_is_target(a) && a->count != b->count)
        return a->count > b->count;
    return p->rank.v[pgk_rec_name(a)] < p->rank.v[pgk_rec_name(b)];
}

static void insertion_sort(const struct pgk_sample *p, struct pgk_sample_rec *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct pgk_sample_rec moving = v[i];
        size_t k = i;
        for (; k && precedes(p, &moving, &v[k - 1]); k--)
            v[k] = v[k - 1];
        v[k] = moving;
    }
}

static void sift_down(const struct pgk_sample *p, struct pgk_sample_rec *v, size_t i, size_t n)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            return;
        if (child + 1 < n && precedes(p, &v[child], &v[child + 1]))
            child++;
        if (!precedes(p, &v[i], &v[child]))
            return;
        struct pgk_sample_rec swapped = v[i];
        v[i] = v[child];
        v[child] = swapped;
        i = child;
    }
}

/* Heap sort for the rare call that goes to hundreds of functions; keys differ, so stability
 * is no question. */
static void sort(const struct pgk_sample *p, struct pgk_sample_rec *v, size_t n)
{
    if (n <= 24) {
        insertion_sort(p, v, n);
        return;
    }
    for (size_t i = n / 2; i > 0; i--)
        sift_down(p, v, i - 1, n);
    for (size_t end = n - 1; end > 0; end--) {
        struct pgk_sample_rec swapped = v[0];
        v[0] = v[end];
        v[end] = swapped;
        sift_down(p, v, 0, end);
    }
}

const struct pgk_sample_rec *pgk_order_values(struct pgk_sample_order *o,
                                              const struct pgk_sample_rec *v, size_t n)
{
    if (n < 2)
        return v;
    o->sorted.n = 0;
    if (!pgk_vec_reserve(&o->sorted, n)) {
        o->failed = true;
        return NULL;
    }
    memcpy(o->sorted.v, v, n * sizeof *v);
    sort(o->p, o->sorted.v, n);
    return o->sorted.v;
}

uint32_t pgk_order_place(struct pgk_sample_order *o, const struct pgk_sample_recs *recs,
                         uint32_t i, struct pgk_sample_place *place)
{
    assert(o->p->finished && i < recs->n && recs->sorted == recs->n);
    uint32_t end = pgk_sample_same_place(recs, i);
    *place = (struct pgk_sample_place){.loc = recs->v[i].loc};
    if (recs->v[i].what == PGK_REC_BODY) {
        place->has_body = true;
        place->samples = recs->v[i++].count;
    }
    size_t n = end - i, n_targets = 0;
    while (n_targets < n && pgk_rec_is_target(&recs->v[i + n_targets]))
        n_targets++;
    place->n_targets = n_targets;
    place->n_vtables = n - n_targets;
    place->targets = recs->v + i;
    place->vtables = recs->v + i + n_targets;
    if (n_targets < 2 && place->n_vtables < 2)
        return end;
    o->sorted.n = 0;
    if (!pgk_vec_reserve(&o->sorted, n)) {
        o->failed = true;
        place->n_targets = place->n_vtables = 0;
        return end;
    }
    memcpy(o->sorted.v, recs->v + i, n * sizeof *recs->v);
    sort(o->p, o->sorted.v, n_targets);
    sort(o->p, o->sorted.v + n_targets, n - n_targets);
    place->targets = o->sorted.v;
    place->vtables = o->sorted.v + n_targets;
    return end;
}

uint32_t pgk_order_find_place(const struct pgk_sample_recs *recs, uint64_t loc)
{
    assert(recs->sorted == recs->n);
    PGK_SEARCH(at, recs->n, mid, recs->v[mid].loc < loc)
    return (uint32_t)at;
}

void pgk_order_free(struct pgk_sample_order *o)
{
    pgk_vec_free(&o->sorted);
}
