/* Walking and building data access profiles: the public side of data_access.h. Items are the
 * entries, then the symbols and then the string literals that are known not to be accessed. */
#include "heap_model.h"

#include <assert.h>

size_t pgk_heap_data_items(const struct pgk_heap *heap)
{
    const struct pgk_data_access *d = &heap->data;
    return d->entries.n + d->cold_symbols.n + d->cold_hashes.n;
}

void pgk_heap_data_item(const struct pgk_heap *heap, size_t i, struct pgk_heap_data *item)
{
    const struct pgk_data_access *d = &heap->data;
    assert(i < pgk_heap_data_items(heap));
    *item = (struct pgk_heap_data){.symbol = "", .cold = i >= d->entries.n};
    if (i < d->entries.n) {
        const struct pgk_data_entry *e = &d->entries.v[i];
        item->symbol = pgk_intern_str(&heap->strings, e->symbol);
        item->literal = e->hash;
        item->accesses = e->count;
        item->n_places = e->n_places;
    } else if ((i -= d->entries.n) < d->cold_symbols.n) {
        item->symbol = pgk_intern_str(&heap->strings, d->cold_symbols.v[i]);
    } else {
        item->literal = d->cold_hashes.v[i - d->cold_symbols.n];
    }
}

size_t pgk_heap_data_places(const struct pgk_heap *heap, size_t i,
                            struct pgk_heap_data_place *places, size_t max)
{
    assert(i < pgk_heap_data_items(heap));
    if (i >= heap->data.entries.n)
        return 0;
    const struct pgk_data_entry *e = &heap->data.entries.v[i];
    for (size_t k = 0; k < e->n_places && k < max; k++)
        places[k] = (struct pgk_heap_data_place){pgk_intern_str(&heap->strings, e->places[k].file),
                                                 e->places[k].line};
    return e->n_places;
}

/* ---- building ---- */

static int refuse(struct pgk_err *err, size_t item, const char *field, const char *found,
                  const char *expected)
{
    return pgk_fail(err, PGK_E_ARG, .format = "heap profile", .record = PGK_F("data %zu", item),
                    .field = field, .found = found, .expected = expected);
}

/* Files separate names by a byte of 1. */
static bool is_name(const char *text)
{
    return text && *text && !strchr(text, 1);
}

static int check(const struct pgk_heap_data *data, size_t i, struct pgk_err *err)
{
    const struct pgk_heap_data *d = &data[i];
    bool has_symbol = d->symbol && *d->symbol;
    if (has_symbol && !is_name(d->symbol))
        return refuse(err, i, "symbol", "a control character", "a linkage name");
    if (has_symbol && d->literal)
        return refuse(err, i, "literal", "the hash of a literal beside a symbol", "one of them");
    if (d->cold && (d->accesses || d->n_places))
        return refuse(err, i, "cold", d->accesses ? "accesses" : "places",
                      "nothing else known of what is not accessed");
    if (d->n_places > UINT32_MAX)
        return refuse(err, i, "n_places", PGK_F("%zu", d->n_places), "at most 4294967295");
    for (size_t k = 0; k < d->n_places; k++)
        if (!is_name(d->places[k].file))
            return refuse(err, i, PGK_F("places[%zu].file", k), "no name, or a control character",
                          "the name of a file");
    return 0;
}

static bool intern_places(struct pgk_heap *h, const struct pgk_heap_data *d,
                          struct pgk_data_place *places)
{
    for (size_t k = 0; k < d->n_places; k++) {
        places[k].file = pgk_intern_cstr(&h->strings, d->places[k].file);
        places[k].line = d->places[k].line;
        if (places[k].file == PGK_INDEX_NONE)
            return false;
    }
    return true;
}

static bool add_entry(struct pgk_heap *h, const struct pgk_heap_data *d, uint32_t symbol)
{
    struct pgk_data_store to = pgk_heap_data_store(h);
    struct pgk_data_place *places = pgk_mem_alloc(d->n_places + 1, sizeof *places);
    bool ok = places && intern_places(h, d, places) &&
              pgk_data_access_add(&to, symbol, d->literal, d->accesses, places, d->n_places);
    pgk_mem_free(places);
    return ok;
}

static int add(struct pgk_heap *h, const struct pgk_heap_data *data, size_t i, struct pgk_err *err)
{
    const struct pgk_heap_data *d = &data[i];
    struct pgk_data_store to = pgk_heap_data_store(h);
    uint32_t symbol = 0;
    PGK_TRY(check(data, i, err));
    if (d->symbol && *d->symbol) {
        symbol = pgk_data_access_symbol(&h->strings, d->symbol, strlen(d->symbol));
        if (!symbol)
            return refuse(err, i, "symbol", d->symbol,
                          "a name of which something is left without suffixes of compilers");
    }
    if (symbol == PGK_INDEX_NONE)
        return pgk_fail_nomem(err);
    bool ok = !d->cold ? add_entry(h, d, symbol)
              : symbol ? pgk_data_access_add_cold_symbol(&to, symbol)
                       : pgk_data_access_add_cold_hash(&to, d->literal);
    return ok ? 0 : pgk_fail_nomem(err);
}

int pgk_heap_build_data(struct pgk_heap *heap, const struct pgk_heap_data *data, size_t n,
                        struct pgk_err *err)
{
    struct pgk_data_store to = pgk_heap_data_store(heap);
    int status = 0;
    for (size_t i = 0; i < n && !status; i++)
        status = add(heap, data, i, err);
    pgk_data_access_sort(&to);
    return status;
}
