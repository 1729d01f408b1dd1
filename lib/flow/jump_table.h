/* Tables of offsets by which the code of a switch finds where to jump. */
#ifndef PGK_JUMP_TABLE_H
#define PGK_JUMP_TABLE_H

#include "arm64_jump_table.h"
#include "code.h"

typedef bool pgk_is_inside_fn(const void *ctx, uint64_t addr);

/* Adds the targets of the table at `table`, a constant of the program whose entries are offsets
 * of 4 bytes from its own address: up to the first one that is not an instruction for which
 * `is_inside` is true. Adds none if no such table is there. False when out of memory. */
bool pgk_jump_table_read(struct pgk_code *code, uint64_t table, pgk_is_inside_fn *is_inside,
                         const void *ctx, pgk_addr_vec *targets);

/* Finds the jump tables of a function of AArch64, one instruction after the other; the state of
 * registers is kept in `jumps`. A table whose length the code gives counts as a whole or not at
 * all; of others only those of words are read, as above, because nearly every byte is an offset
 * within a function. */
bool pgk_jump_table_step(struct pgk_code *code, struct pgk_arm64_jumps *jumps, uint64_t addr,
                         pgk_is_inside_fn *is_inside, const void *ctx, pgk_addr_vec *targets);

#endif
