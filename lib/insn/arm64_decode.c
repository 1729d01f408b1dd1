/* AArch64 without text: every instruction has 4 bytes, and the branches are few. */
#include "insn_priv.h"

#include <string.h>

static uint64_t relative(uint64_t addr, uint32_t word, unsigned shift, unsigned bits)
{
    uint32_t field = word >> shift << (32 - bits);
    return addr + (uint64_t)((int64_t)(int32_t)field >> (32 - bits)) * 4;
}

static uint64_t adr(uint64_t addr, uint32_t word)
{
    int64_t imm = (int64_t)((uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3));
    imm = (int64_t)((uint64_t)imm << 43) >> 43;
    return word >> 31 ? (addr & ~(uint64_t)0xfff) + ((uint64_t)imm << 12) : addr + (uint64_t)imm;
}

/* Branches through a register: br, blr, ret, and their forms with pointer authentication. */
static void through_register(uint32_t word, struct pgk_insn *insn)
{
    unsigned op = word >> 21 & 0xf;
    if ((op & 7) == 2 || (op & 7) == 4) {
        insn->kind = PGK_INSN_RET; /* ret, retaa, eret */
        return;
    }
    insn->kind = op & 1 ? PGK_INSN_CALL : PGK_INSN_JUMP;
    insn->indirect = true;
}

void pgk_arm64_decode(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, struct pgk_insn *insn)
{
    uint32_t w;
    (void)d;
    *insn = (struct pgk_insn){.addr = addr, .length = n < 4 ? (uint8_t)n : 4};
    if (n < sizeof w)
        return;
    memcpy(&w, bytes, sizeof w);
    insn->valid = true;
    if ((w & 0x7c000000) == 0x14000000) { /* b, bl */
        insn->kind = w >> 31 ? PGK_INSN_CALL : PGK_INSN_JUMP;
        insn->target = relative(addr, w, 0, 26);
    } else if ((w & 0xff000000) == 0x54000000 || /* b.cond, bc.cond */
               (w & 0x7e000000) == 0x34000000) { /* cbz, cbnz */
        insn->kind = PGK_INSN_COND;
        insn->target = relative(addr, w, 5, 19);
    } else if ((w & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
        insn->kind = PGK_INSN_COND;
        insn->target = relative(addr, w, 5, 14);
    } else if ((w & 0xfe1f0000) == 0xd61f0000) {
        through_register(w, insn);
    } else if ((w & 0xffe0001f) == 0xd4200000 || (w & 0xffff0000) == 0) { /* brk, udf */
        insn->kind = PGK_INSN_STOP;
    } else if ((w & 0x1f000000) == 0x10000000) { /* adr, adrp */
        insn->data = adr(addr, w);
    } else if ((w & 0x3b000000) == 0x18000000) { /* ldr of a literal */
        insn->data = relative(addr, w, 5, 19);
    }
}
