/* Data access profiles: how often sampled loads and stores hit which global variable or string
 * literal, and which are known not to be hit. MemProf V4 and YAML hold one next to the heap
 * records. docs/formats/indexed-heap.md section 8
 *
 * Kept in one order, so that equal profiles are written as equal bytes: entries by count, falling,
 * then symbols by name, then literals by hash; places by file and line. */
#ifndef PGK_DATA_ACCESS_H
#define PGK_DATA_ACCESS_H

#include "arena.h"
#include "fail.h"
#include "index.h"
#include "intern.h"

struct pgk_data_place {
    uint32_t file; /* string id */
    uint32_t line;
};

struct pgk_data_entry {
    uint32_t symbol; /* string id of the canonical name; 0: a string literal */
    uint32_t n_places;
    uint64_t hash;   /* of a literal */
    uint64_t count;  /* accesses; saturates */
    struct pgk_data_place *places; /* declarations, in the arena */
};

struct pgk_data_access {
    PGK_VEC(struct pgk_data_entry) entries;
    PGK_VEC(uint32_t) cold_symbols; /* string ids */
    PGK_VEC(uint64_t) cold_hashes;
    struct pgk_index index; /* of the entries */
};

void pgk_data_access_free(struct pgk_data_access *d);
bool pgk_data_access_any(const struct pgk_data_access *d);

/* The tables that hold the strings and places of a data access profile. */
struct pgk_data_store {
    struct pgk_data_access *data;
    struct pgk_intern *strings;
    struct pgk_arena *arena;
};

/* Adds an entry; counts of an equal one are added up and places united. `symbol` is a string id
 * of `strings`. False when out of memory, as the others. */
bool pgk_data_access_add(struct pgk_data_store *to, uint32_t symbol, uint64_t hash, uint64_t count,
                         const struct pgk_data_place *places, size_t n_places);
bool pgk_data_access_add_cold_symbol(struct pgk_data_store *to, uint32_t symbol);
bool pgk_data_access_add_cold_hash(struct pgk_data_store *to, uint64_t hash);
/* Adds all of another one, whose strings are in `from_strings`. */
bool pgk_data_access_merge(struct pgk_data_store *to, const struct pgk_data_access *from,
                           const struct pgk_intern *from_strings);

/* The string id of a symbol's canonical name; PGK_INDEX_NONE when out of memory. */
uint32_t pgk_data_access_symbol(struct pgk_intern *strings, const char *name, size_t len);

/* Puts everything into its order; readers and merges call it once at their end. */
void pgk_data_access_sort(struct pgk_data_store *to);

#endif
