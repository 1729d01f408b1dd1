/* Orders of blocks and functions as clang and lld take them. docs/formats/propeller.md section 2 */
#ifndef PGK_PROPELLER_WRITE_H
#define PGK_PROPELLER_WRITE_H

#include "block_order.h"
#include "layout_functions.h"
#include "sink.h"

struct pgk_propeller {
    const struct pgk_block_map *map;
    const struct pgk_block_order *order;
    const struct pgk_layout_functions *functions;
    unsigned list; /* version of the list: 0 or 1 */
};

struct pgk_propeller_written {
    uint64_t functions, blocks;
    uint64_t nameless;            /* left out: several functions have its name, or it has none */
    uint64_t repeated;            /* left out: blocks of one number, which a list made */
    const char *nameless_example; /* the first of these; NULL: none */
};

/* The list for -fbasic-block-sections=list=, and the symbols for --symbol-ordering-file, unless
 * `symbols` is NULL. False when out of memory. */
bool pgk_propeller_write(const struct pgk_propeller *what, struct pgk_sink *list,
                         struct pgk_sink *symbols, struct pgk_propeller_written *written);

#endif
