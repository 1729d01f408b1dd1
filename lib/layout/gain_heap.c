/* Pairs of chains by what joining them gains. */
#include "gain_heap.h"

static bool is_before(const struct pgk_gain *x, const struct pgk_gain *y)
{
    return x->gain > y->gain || (x->gain == y->gain && x->pair < y->pair);
}

bool pgk_gain_put(pgk_gain_heap *heap, struct pgk_gain g)
{
    if (!pgk_vec_push(heap, g))
        return false;
    size_t at = heap->n - 1;
    for (; at && is_before(&g, &heap->v[(at - 1) / 2]); at = (at - 1) / 2)
        heap->v[at] = heap->v[(at - 1) / 2];
    heap->v[at] = g;
    return true;
}

struct pgk_gain pgk_gain_take(pgk_gain_heap *heap)
{
    struct pgk_gain first = heap->v[0], last = heap->v[--heap->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        child += child + 1 < heap->n && is_before(&heap->v[child + 1], &heap->v[child]);
        if (!is_before(&heap->v[child], &last))
            break;
        heap->v[at] = heap->v[child];
    }
    heap->v[at] = last;
    return first;
}
