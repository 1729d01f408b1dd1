/* Decodes instructions of x86-64 as far as needed to move them: their length, their kind of branch,
 * and whether they have an operand relative to the program counter. An instruction that is not in
 * the tables, or only runs in its own place, ends a window. The tests compare this with Zydis,
 * which allocates nothing, but is a library that a program may contain, too. */
#ifndef PGBR_DECODE_H
#define PGBR_DECODE_H

#include "guest.h"

#pragma GCC visibility push(hidden)

enum pgbr_kind {
    PGBR_COPY,      /* runs anywhere; with `beside`, once its operand is addressed otherwise */
    PGBR_COND,      /* `code` is the condition */
    PGBR_LOOP,      /* `code` 0: loopne, 1: loope, 2: loop, 3: jrcxz */
    PGBR_JUMP,
    PGBR_CALL,
    PGBR_JUMP_TO,   /* indirect */
    PGBR_CALL_TO,
    PGBR_RETURN,    /* `target`: bytes of arguments to drop */
    PGBR_SYSTEM,    /* a call of the kernel */
    PGBR_SPECIAL,   /* only runs in its own place */
    PGBR_UNKNOWN,
};

enum { PGBR_NONE = 16 }; /* no register */

/* What a string instruction accesses: memory at rsi, at rdi. */
enum pgbr_string { PGBR_READS_SI = 1, PGBR_READS_DI = 2, PGBR_WRITES_DI = 4 };

struct pgbr_insn {
    uint8_t length; /* 0 with PGBR_UNKNOWN */
    uint8_t kind, code;
    bool beside;       /* memory operand relative to the next instruction */
    uint8_t prefix_at; /* REX, VEX or EVEX, if has_prefix */
    bool has_prefix;
    uint8_t modrm_at, disp_at; /* of the operand relative to it */
    uint8_t used;      /* set of the first 8 general registers that its operands name */
    bool loads;        /* from its memory operand: moves, comparisons, integer arithmetic */
    /* Of its memory operand; 0: there is none whose size is known, or it is in a segment. `disp`
     * and what follows `loads` are set, too. */
    uint8_t bytes;
    bool reads, writes;
    uint8_t string; /* set of enum pgbr_string */
    uint8_t base, index, scale; /* of the memory operand of an indirect branch or a load, or
                                 * PGBR_NONE */
    uint8_t reg;       /* an operand that is not in memory, if it may be, else PGBR_NONE */
    int64_t disp;      /* of the memory operand of these, or of the relative one */
    int64_t target;    /* of a direct branch: from the next instruction */
};

enum { PGBR_INSN_MAX = 15 };
/* Reads at most `n` bytes. */
void pgbr_decode(struct pgbr_insn *insn, const uint8_t *bytes, size_t n);

#pragma GCC visibility pop
#endif
