/* Effects of an instruction on addresses that code computes itself, so that callers know which
 * constants registers hold, what is compared with them, and what then depends on equality.
 *
 *     lea 0x13e4(%rip),%rdx     rdx becomes a number
 *     cmp %rdx,%rcx             rdx and rcx are compared
 *     jne ...                   jumps unless they are equal */
#ifndef PGK_INSN_EFFECT_H
#define PGK_INSN_EFFECT_H

#include "insn.h"

enum { PGK_INSN_REGISTERS = 32 };

enum pgk_insn_operand_kind {
    PGK_OPERAND_UNKNOWN,
    PGK_OPERAND_VALUE,  /* `base` + `value` */
    PGK_OPERAND_MEMORY, /* the 8 bytes at `base` + `value` */
};
struct pgk_insn_operand {
    enum pgk_insn_operand_kind kind;
    int base; /* register; -1: none */
    uint64_t value;
};

enum pgk_insn_flags {
    PGK_FLAGS_KEPT,
    PGK_FLAGS_LOST,     /* they have another meaning from now on */
    PGK_FLAGS_COMPARE,  /* whether `a` equals `b` */
    PGK_FLAGS_OR_EQUAL, /* whether the last comparison found equality, or `a` equals `b` */
};

enum pgk_insn_asks {
    PGK_ASKS_NOTHING,
    PGK_ASKS_JUMP,        /* jumps if the last comparison found equality */
    PGK_ASKS_JUMP_UNLESS, /* if it did not */
    PGK_ASKS_CHOICE,      /* gets a value that depends on it, without a branch */
};

struct pgk_insn_effect {
    uint32_t changed; /* general registers that get other contents, a bit for each */
    int reg;          /* of these, the one that becomes `a`; -1: none */
    struct pgk_insn_operand a, b;
    enum pgk_insn_flags flags;
    enum pgk_insn_asks asks;
    bool pads; /* does nothing, but fill up space */
    /* A store in the frame: its place and number of bytes; 0: none. */
    struct pgk_insn_operand place;
    uint32_t stores;
    struct pgk_insn_operand stored; /* what 8 bytes become */
};

/* For a valid instruction. Unknown effects are reported as changed and lost. */
void pgk_insn_effect(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, struct pgk_insn_effect *effect);

/* Whether code may name an address from `low` to `high`, both included, or one of its page; false
 * if it surely does not. Much faster than looking at the instructions. */
bool pgk_insn_may_name(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                       uint64_t addr, uint64_t low, uint64_t high);

#endif
