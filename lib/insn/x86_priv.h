/* Shared by the decoder and the text of x86-64. */
#ifndef PGK_X86_PRIV_H
#define PGK_X86_PRIV_H

#include "insn_priv.h"

#include <Zydis/Zydis.h>

void pgk_x86_classify(const ZydisDecodedInstruction *in, uint64_t addr, struct pgk_insn *insn);

/* Instructions that were decoded before; see x86_memo.c. NULL when out of memory; to be freed. */
struct pgk_x86_memo *pgk_x86_memo_new(void);
/* False if it does not know the instruction. */
bool pgk_x86_memo_find(struct pgk_x86_memo *memo, const uint8_t *bytes, size_t n, uint64_t addr,
                       struct pgk_insn *insn);
/* Keeps what was decoded; `in` is of use if it is valid. */
void pgk_x86_memo_keep(struct pgk_x86_memo *memo, const uint8_t *bytes, size_t n,
                       const ZydisDecodedInstruction *in, const struct pgk_insn *insn);

/* Whether an operand is addressed from the next instruction. */
static inline bool pgk_x86_has_data(const ZydisDecodedInstruction *in)
{
    return (in->attributes & ZYDIS_ATTRIB_HAS_MODRM) && in->raw.modrm.mod == 0 &&
           in->raw.modrm.rm == 5 && in->raw.disp.size == 32;
}

/* LLVM reads a lock prefix as an instruction of its own. */
static inline bool pgk_x86_is_split(const struct pgk_insn_decoder *d, const uint8_t *bytes,
                                    size_t n)
{
    return n > 1 && bytes[0] == 0xf0 && d->style == PGK_INSN_LLVM;
}

/* How AT&T syntax spells a mnemonic. */
enum pgk_x86_suffix {
    PGK_X86_PLAIN,
    PGK_X86_SIZED,    /* b, w, l, q by the width of the operation */
    PGK_X86_FLOAT,    /* s, l, t by the size of the memory operand */
    PGK_X86_FLOAT_INT, /* s, l, ll by the size of the memory operand */
    PGK_X86_SIZED_MEM, /* l, q by the size of the memory operand, if there is one */
    PGK_X86_VECTOR_MEM, /* x, y, z by the size of the memory operand, if there is one */
    PGK_X86_EXTEND,   /* movz, movs: from and to */
    PGK_X86_COMPARE,  /* the immediate is part of the name */
};
struct pgk_x86_name {
    const char *text;
    uint8_t len, suffix;
    bool unsigned_imm; /* immediates are not sign-extended */
};
extern struct pgk_x86_name pgk_x86_names[ZYDIS_MNEMONIC_MAX_VALUE + 1];
void pgk_x86_names_init(void); /* once; thread-safe */

#endif
