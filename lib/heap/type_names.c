/* Names of the types that DataTypeIds of contexts stand for. An id is the hash of its name, so
 * models agree on it. docs/formats/heap-types.md */
#include "type_names.h"

#include "function_name.h"
#include "hash.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const struct pgk_heap *h, uint32_t a, uint32_t b)
{
    size_t x = pgk_intern_len(&h->strings, a), y = pgk_intern_len(&h->strings, b);
    int order = memcmp(pgk_intern_str(&h->strings, a), pgk_intern_str(&h->strings, b),
                       x < y ? x : y);
    return order ? order : x < y ? -1 : x > y;
}

/* Position of the type, or PGK_INDEX_NONE. */
static uint32_t find(const struct pgk_heap *h, uint64_t id)
{
    PGK_INDEX_FOR (&h->type_index, pgk_hash_u64(id), i)
        if (h->types.v[i].id == id)
            return i;
    return PGK_INDEX_NONE;
}

uint64_t pgk_heap_type_id(const struct pgk_heap *h, uint32_t name)
{
    return pgk_heap_guid(pgk_intern_str(&h->strings, name), pgk_intern_len(&h->strings, name));
}

/* If two names have one hash, the first in the order of bytes is kept, in any order of inputs. */
bool pgk_heap_note_type(struct pgk_heap *h, uint32_t name)
{
    uint64_t id = pgk_heap_type_id(h, name);
    uint32_t at = find(h, id);
    if (at == PGK_INDEX_NONE)
        return pgk_vec_push(&h->types, (struct pgk_heap_type){id, name}) &&
               pgk_index_add(&h->type_index, pgk_hash_u64(id), (uint32_t)h->types.n - 1);
    if (compare_names(h, name, h->types.v[at].name) < 0)
        h->types.v[at].name = name;
    return true;
}

bool pgk_heap_add_types(struct pgk_heap *to, const struct pgk_heap *from)
{
    for (size_t i = 0; i < from->types.n; i++) {
        uint32_t old = from->types.v[i].name;
        uint32_t name = pgk_intern(&to->strings, pgk_intern_str(&from->strings, old),
                                   pgk_intern_len(&from->strings, old));
        if (name == PGK_INDEX_NONE || !pgk_heap_note_type(to, name))
            return false;
    }
    return true;
}

const char *pgk_heap_type_name(const struct pgk_heap *heap, uint64_t id)
{
    uint32_t at = find(heap, id);
    return at == PGK_INDEX_NONE ? "" : pgk_intern_str(&heap->strings, heap->types.v[at].name);
}

static int by_name(const void *a, const void *b, void *heap)
{
    return compare_names(heap, *(const uint32_t *)a, *(const uint32_t *)b);
}

bool pgk_heap_used_types(const struct pgk_heap *h, pgk_type_name_vec *names)
{
    bool *seen = pgk_mem_zalloc(h->types.n + 1, sizeof *seen), ok = seen;
    for (size_t i = 0; i < h->contexts.n && h->types.n && ok; i++) {
        uint32_t at = find(h, pgk_context_value(h, &h->contexts.v[i], PGK_MIB_DataTypeId));
        if (at == PGK_INDEX_NONE || seen[at])
            continue;
        seen[at] = true;
        ok = pgk_vec_push(names, h->types.v[at].name);
    }
    pgk_mem_free(seen);
    if (ok && names->n)
        qsort_r(names->v, names->n, sizeof *names->v, by_name, (void *)(uintptr_t)h);
    return ok;
}
