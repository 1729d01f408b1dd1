/* Tables of offsets by which the code of a switch finds where to jump. */
#ifndef PGK_JUMP_TABLE_H
#define PGK_JUMP_TABLE_H

#include "code.h"

typedef bool pgk_is_inside_fn(const void *ctx, uint64_t addr);

/* Adds the targets of the table at `table`, a constant of the program whose entries are offsets
 * from its own address: up to the first one that is not an instruction for which `is_inside` is
 * true. Adds none if no such table is there. False when out of memory. */
bool pgk_jump_table_read(struct pgk_code *code, uint64_t table, pgk_is_inside_fn *is_inside,
                         const void *ctx, pgk_addr_vec *targets);

#endif
