/* The basic blocks of a function as llvm-bolt cuts them. docs/formats/bolt.md section 4 */
#ifndef PGK_BOLT_BLOCKS_H
#define PGK_BOLT_BLOCKS_H

#include "bolt_functions.h"
#include "code.h"

struct pgk_bolt_block {
    uint64_t low, last;   /* addresses of the first and the last instruction */
    bool falls_through;   /* control may go on to the next block */
    bool ends_in_call;
    bool is_entry;        /* of the function, or of those among its `entries` */
};

struct pgk_bolt_blocks {
    PGK_VEC(struct pgk_bolt_block) list; /* ascending, without gaps */
    pgk_addr_vec leaders;             /* scratch */
};

/* Adds what the cold parts of functions jump back to, to the entries of the functions. False when
 * out of memory. */
bool pgk_bolt_add_entries(struct pgk_bolt_functions *functions, const struct pgk_code *code);
/* Cuts one function; what was in `blocks` is overwritten. False when out of memory. */
bool pgk_bolt_blocks_make(struct pgk_bolt_blocks *blocks, struct pgk_code *code,
                          const struct pgk_bolt_functions *functions, uint32_t function);
/* Position of the block that holds `addr`, which is in the function; SIZE_MAX if none does. */
size_t pgk_bolt_blocks_at(const struct pgk_bolt_blocks *blocks, uint64_t addr);
void pgk_bolt_blocks_free(struct pgk_bolt_blocks *blocks);

#endif
