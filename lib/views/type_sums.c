/* Sums by type: contexts of a heap profile, added up by the type of their objects. */
#include "hash.h"
#include "heap_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b, void *sort)
{
    const struct pgk_type_sum *x = a, *y = b;
    enum pgk_heap_sort key = *(enum pgk_heap_sort *)sort;
    double of_x = pgk_heap_sort_value(&x->sum, key), of_y = pgk_heap_sort_value(&y->sum, key);
    if (!x->id != !y->id)
        return x->id ? -1 : 1;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : x->id < y->id ? -1 : x->id > y->id;
}

uint32_t pgk_type_sums_find(const struct pgk_type_sums *sums, uint64_t id)
{
    PGK_INDEX_FOR (&sums->index, pgk_hash_u64(id), i)
        if (sums->all.v[i].id == id)
            return i;
    return PGK_INDEX_NONE;
}

static bool add_context(const struct pgk_heap *heap, size_t context, struct pgk_type_sums *sums)
{
    struct pgk_mib m = *pgk_heap_mib(heap, context, PGK_MIB_SPACE);
    uint64_t id = m.v[PGK_MIB_DataTypeId];
    uint32_t at = pgk_type_sums_find(sums, id);
    m.hist = NULL;
    m.hist_count = 0;
    if (at == PGK_INDEX_NONE)
        return pgk_vec_push(&sums->all,
                            (struct pgk_type_sum){id, pgk_heap_type_name(heap, id), 1, m}) &&
               pgk_index_add(&sums->index, pgk_hash_u64(id), (uint32_t)sums->all.n - 1);
    sums->all.v[at].contexts++;
    return pgk_mib_add(&sums->all.v[at].sum, &m, NULL);
}

/* Sorts the sums; false when out of memory. */
static bool sort_sums(struct pgk_type_sums *sums, enum pgk_heap_sort sort)
{
    bool ok = true;
    if (sums->all.n)
        qsort_r(sums->all.v, sums->all.n, sizeof *sums->all.v, by_key, &sort);
    pgk_index_free(&sums->index);
    sums->index = (struct pgk_index){0};
    for (size_t i = 0; i < sums->all.n && ok; i++)
        ok = pgk_index_add(&sums->index, pgk_hash_u64(sums->all.v[i].id), (uint32_t)i);
    return ok;
}

int pgk_heap_sum_types(const struct pgk_heap *heap, enum pgk_heap_sort sort,
                       struct pgk_type_sums *sums, struct pgk_err *err)
{
    bool ok = true;
    *sums = (struct pgk_type_sums){0};
    for (size_t c = 0; c < pgk_heap_contexts(heap) && ok; c++)
        ok = add_context(heap, c, sums);
    if (ok && sort_sums(sums, sort))
        return 0;
    pgk_type_sums_free(sums);
    return pgk_fail_nomem(err);
}

void pgk_type_sums_free(struct pgk_type_sums *sums)
{
    pgk_vec_free(&sums->all);
    pgk_index_free(&sums->index);
    *sums = (struct pgk_type_sums){0};
}

const char *pgk_type_number(char buf[PGK_TYPE_NUMBER_SIZE], uint64_t id)
{
    snprintf(buf, PGK_TYPE_NUMBER_SIZE, "type 0x%016" PRIx64, id);
    return buf;
}
