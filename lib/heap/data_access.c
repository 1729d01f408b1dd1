/* Tables of a data access profile. */
#include "data_access.h"

#include "function_name.h"
#include "hash.h"
#include "saturate.h"
#include "u64_set.h"

#include <stdlib.h>

void pgk_data_access_free(struct pgk_data_access *d)
{
    pgk_vec_free(&d->entries);
    pgk_vec_free(&d->cold_symbols);
    pgk_vec_free(&d->cold_hashes);
    pgk_index_free(&d->index);
}

bool pgk_data_access_any(const struct pgk_data_access *d)
{
    return d->entries.n || d->cold_symbols.n || d->cold_hashes.n;
}

uint32_t pgk_data_access_symbol(struct pgk_intern *strings, const char *name, size_t len)
{
    const size_t once = pgk_heap_canonical_len(name, len);
    size_t most = once, before;
    do {
        before = most;
        most = pgk_heap_canonical_len(name, before);
    } while (most < before);
    /* A name of which nothing is left, however often it is written and read again, is none. */
    return pgk_intern(strings, name, most ? once : 0);
}

static int compare_texts(const struct pgk_intern *strings, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(pgk_intern_str(strings, a), pgk_intern_str(strings, b));
}

static int compare_places(const void *a, const void *b, void *strings)
{
    const struct pgk_data_place *x = a, *y = b;
    int order = compare_texts(strings, x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* The places of `e` become the sorted union with the given ones. */
static bool add_places(struct pgk_data_store *to, struct pgk_data_entry *e,
                       const struct pgk_data_place *places, size_t n)
{
    if (!n)
        return true;
    struct pgk_data_place *all = pgk_arena_alloc(to->arena, e->n_places + n, sizeof *all);
    if (!all)
        return false;
    if (e->n_places)
        memcpy(all, e->places, e->n_places * sizeof *all);
    memcpy(all + e->n_places, places, n * sizeof *all);
    n += e->n_places;
    qsort_r(all, n, sizeof *all, compare_places, to->strings);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || all[i].file != all[kept - 1].file || all[i].line != all[kept - 1].line)
            all[kept++] = all[i];
    e->places = all;
    e->n_places = (uint32_t)kept;
    return true;
}

/* Sorting changes positions, and drops the index; it is made again before something is added. */
static bool index_entries(struct pgk_data_access *d)
{
    for (size_t i = d->index.used; i < d->entries.n; i++)
        if (!pgk_index_add(&d->index, pgk_hash_pair(d->entries.v[i].hash, d->entries.v[i].symbol),
                           (uint32_t)i))
            return false;
    return true;
}

bool pgk_data_access_add(struct pgk_data_store *to, uint32_t symbol, uint64_t hash, uint64_t count,
                         const struct pgk_data_place *places, size_t n_places)
{
    struct pgk_data_access *d = to->data;
    uint64_t key = pgk_hash_pair(hash, symbol);
    if (!index_entries(d))
        return false;
    PGK_INDEX_FOR (&d->index, key, i) {
        struct pgk_data_entry *e = &d->entries.v[i];
        if (e->symbol != symbol || e->hash != hash)
            continue;
        e->count = pgk_add_saturated(e->count, count);
        return add_places(to, e, places, n_places);
    }
    struct pgk_data_entry e = {.symbol = symbol, .hash = hash, .count = count};
    return add_places(to, &e, places, n_places) && pgk_vec_push(&d->entries, e) &&
           pgk_index_add(&d->index, key, (uint32_t)d->entries.n - 1);
}

bool pgk_data_access_add_cold_symbol(struct pgk_data_store *to, uint32_t symbol)
{
    return pgk_vec_push(&to->data->cold_symbols, symbol);
}

bool pgk_data_access_add_cold_hash(struct pgk_data_store *to, uint64_t hash)
{
    return pgk_vec_push(&to->data->cold_hashes, hash);
}

static int compare_entries(const void *a, const void *b, void *strings)
{
    const struct pgk_data_entry *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (!x->symbol != !y->symbol)
        return x->symbol ? -1 : 1;
    if (x->symbol != y->symbol)
        return compare_texts(strings, x->symbol, y->symbol);
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static int compare_symbols(const void *a, const void *b, void *strings)
{
    return compare_texts(strings, *(const uint32_t *)a, *(const uint32_t *)b);
}

void pgk_data_access_sort(struct pgk_data_store *to)
{
    struct pgk_data_access *d = to->data;
    if (d->entries.n)
        qsort_r(d->entries.v, d->entries.n, sizeof *d->entries.v, compare_entries, to->strings);
    pgk_index_free(&d->index);
    size_t kept = 0;
    if (d->cold_symbols.n)
        qsort_r(d->cold_symbols.v, d->cold_symbols.n, sizeof *d->cold_symbols.v, compare_symbols,
                to->strings);
    for (size_t i = 0; i < d->cold_symbols.n; i++)
        if (!kept || d->cold_symbols.v[i] != d->cold_symbols.v[kept - 1])
            d->cold_symbols.v[kept++] = d->cold_symbols.v[i];
    d->cold_symbols.n = kept;
    if (d->cold_hashes.n)
        d->cold_hashes.n = pgk_u64_set(d->cold_hashes.v, d->cold_hashes.n);
}

static uint32_t copy_string(struct pgk_intern *to, const struct pgk_intern *from, uint32_t id)
{
    return pgk_intern(to, pgk_intern_str(from, id), pgk_intern_len(from, id));
}

static bool merge_entry(struct pgk_data_store *to, const struct pgk_data_entry *e,
                        const struct pgk_intern *strings)
{
    PGK_VEC(struct pgk_data_place) places = {0};
    uint32_t symbol = copy_string(to->strings, strings, e->symbol);
    bool ok = symbol != PGK_INDEX_NONE;
    for (uint32_t i = 0; i < e->n_places && ok; i++) {
        struct pgk_data_place p = {copy_string(to->strings, strings, e->places[i].file),
                                   e->places[i].line};
        ok = p.file != PGK_INDEX_NONE && pgk_vec_push(&places, p);
    }
    ok = ok && pgk_data_access_add(to, symbol, e->hash, e->count, places.v, places.n);
    pgk_vec_free(&places);
    return ok;
}

bool pgk_data_access_merge(struct pgk_data_store *to, const struct pgk_data_access *from,
                           const struct pgk_intern *from_strings)
{
    if (!pgk_data_access_any(from))
        return true;
    bool ok = true;
    for (size_t i = 0; i < from->entries.n && ok; i++)
        ok = merge_entry(to, &from->entries.v[i], from_strings);
    for (size_t i = 0; i < from->cold_symbols.n && ok; i++) {
        uint32_t symbol = copy_string(to->strings, from_strings, from->cold_symbols.v[i]);
        ok = symbol != PGK_INDEX_NONE && pgk_data_access_add_cold_symbol(to, symbol);
    }
    for (size_t i = 0; i < from->cold_hashes.n && ok; i++)
        ok = pgk_data_access_add_cold_hash(to, from->cold_hashes.v[i]);
    if (ok)
        pgk_data_access_sort(to);
    return ok;
}
