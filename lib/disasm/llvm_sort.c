/* std::sort of GNU's C++ library: quicksort with the median of three down to 16 elements, then
 * insertion. An inline function has a descriptor from each object file, with the same GUID
 * but now and then another hash, so that the order among them is seen in the output. The real one
 * changes to a heap sort where quicksort goes too deep, which GUIDs, being hashes, do not do;
 * here such a stretch is left to the insertions. */
#include "llvm_sort.h"

#include <string.h>

enum { SMALL = 16 };

typedef struct pgk_probe_desc item;

static void swap(item *a, item *b)
{
    item t = *a;
    *a = *b;
    *b = t;
}

static void median_to_first(item *result, item *a, item *b, item *c)
{
    if (a->guid < b->guid)
        swap(result, b->guid < c->guid ? b : a->guid < c->guid ? c : a);
    else
        swap(result, a->guid < c->guid ? a : b->guid < c->guid ? c : b);
}

static item *partition(item *first, item *last, const item *pivot)
{
    for (;; first++) {
        while (first->guid < pivot->guid)
            first++;
        last--;
        while (pivot->guid < last->guid)
            last--;
        if (first >= last)
            return first;
        swap(first, last);
    }
}

/* The right part by recursion, as deep as the logarithm of the size. */
static void quicksort(item *first, item *last, unsigned depth)
{
    while (last - first > SMALL && depth--) {
        median_to_first(first, first + 1, first + (last - first) / 2, last - 1);
        item *cut = partition(first + 1, last, first);
        quicksort(cut, last, depth);
        last = cut;
    }
}

static void insert(item *first, item *at)
{
    item x = *at, *to = at;
    if (x.guid < first->guid)
        to = first;
    else
        while (x.guid < to[-1].guid)
            to--;
    memmove(to + 1, to, (size_t)(at - to) * sizeof *to);
    *to = x;
}

void pgk_llvm_sort_descs(struct pgk_probe_desc *v, size_t n)
{
    unsigned depth = 0;
    for (size_t m = n; m > 1; m >>= 1)
        depth += 2;
    quicksort(v, v + n, depth);
    for (size_t i = 1; i < n; i++)
        insert(v, v + i);
}
