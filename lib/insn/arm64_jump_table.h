/* Which tables of offsets code of AArch64 jumps by. A switch is, by gcc and by clang,
 *
 *     cmp w0, #9                     or a mask, or a shift, or a load of a byte
 *     b.hi default
 *     adrp x1, table
 *     add x1, x1, :lo12:table
 *     ldrb w1, [x1, w0, uxtw]        bytes; ldrh, ldr: two and four; ldrs where they have a sign
 *     adr x2, anchor                 or the table itself
 *     add x1, x2, w1, sxtb #2        gcc; clang: x1, lsl #2
 *     br x1
 *
 * with other instructions in between, and the constants set long before in a loop. So instructions
 * are followed in the order of addresses, and a register keeps its value until it is set to
 * another; at a place that only a jump leads to, what is known of the index at that jump holds
 * again. Where paths meet this may be wrong: the table is then reported with wrong bounds. */
#ifndef PGK_ARM64_JUMP_TABLE_H
#define PGK_ARM64_JUMP_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct pgk_arm64_jump_table {
    uint64_t table;  /* address of the entries */
    uint64_t anchor; /* what they are offsets from */
    uint64_t n;      /* entries; UINT64_MAX: not known */
    uint8_t bytes;   /* of an entry: 1, 2, 4 */
    uint8_t shift;   /* from an entry to its offset: 0 or 2 */
    bool is_signed;
};

enum { PGK_ARM64_REGISTERS = 32, PGK_ARM64_AHEAD = 8 };
/* The known values of registers; none if zero-initialised. */
struct pgk_arm64_jumps {
    struct {
        enum { PGK_ARM64_UNKNOWN, PGK_ARM64_CONSTANT, PGK_ARM64_ENTRY, PGK_ARM64_TARGET } is;
        uint64_t values;                   /* below this; 0: not known */
        uint64_t constant;                 /* of a constant */
        struct pgk_arm64_jump_table table; /* of an entry and a target */
    } reg[PGK_ARM64_REGISTERS];
    bool was_compared; /* this register with this number, and the flags still say how */
    unsigned compared;
    uint64_t compared_with;
    bool left; /* the last instruction does not go on to the next one */
    struct {
        uint64_t target, values;
        unsigned reg;
    } ahead[PGK_ARM64_AHEAD]; /* of the last jumps that are taken if a register is below a number */
    unsigned jumps;
};

/* Goes on by an instruction. True if it jumps to what an entry of `table` says. */
bool pgk_arm64_jumps_step(struct pgk_arm64_jumps *jumps, uint32_t word, uint64_t addr,
                          struct pgk_arm64_jump_table *table);

#endif
