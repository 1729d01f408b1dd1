/* Where the variables of a binary are declared, by their address. */
#ifndef PGK_DATA_PLACES_H
#define PGK_DATA_PLACES_H

#include "pgokit/heap.h"
#include "symboliser.h"
#include "vec.h"

struct pgk_declaration {
    uint64_t addr;
    struct pgk_heap_data_place place; /* in the debug information */
};
struct pgk_data_places {
    PGK_VEC(struct pgk_declaration) list; /* by address, file and line, once each */
    PGK_VEC(struct pgk_heap_data_place) found;
};

/* Reads all. `sym` NULL: there are none. The symboliser must outlive `places`. */
int pgk_data_places_read(struct pgk_data_places *places, struct pgk_symboliser *sym,
                         struct pgk_err *err);
void pgk_data_places_free(struct pgk_data_places *places);
/* Those of the variable at an address, valid until the next call; NULL when out of memory. */
const struct pgk_heap_data_place *pgk_data_places_at(struct pgk_data_places *places, uint64_t addr,
                                                     size_t *n);

#endif
