/* Reads of tables of functions by AArch64: the entry that a register and a displacement lead to. */
#include "insn_priv.h"

#include <string.h>

enum { FRAME = 29, STACK = 31 }; /* x29, sp */

bool pgk_arm64_table(const uint8_t *bytes, size_t n, struct pgk_insn_table *t)
{
    uint32_t w;
    if (n < sizeof w)
        return false;
    memcpy(&w, bytes, sizeof w);
    unsigned base = w >> 5 & 31;
    if ((w & 0xffdffc1f) == 0xd61f0000) { /* br, blr */
        *t = (struct pgk_insn_table){.reg = (int)base, .slot = -1, .branch = true};
        return true;
    }
    if ((w & 0xffc00000) != 0xf9400000) /* ldr of 8 bytes */
        return false;
    *t = (struct pgk_insn_table){.reg = (int)(w & 31), .slot = (int32_t)(w >> 10 & 0xfff) * 8};
    return base != FRAME && base != STACK;
}

/* adrp x16, PAGE; ldr x17, [x16, #OFFSET] */
uint64_t pgk_arm64_stub_slot(const struct pgk_insn *insn, const uint8_t *bytes, size_t n)
{
    uint32_t adrp = pgk_insn_word(bytes, n), ldr = n > 4 ? pgk_insn_word(bytes + 4, n - 4) : 0;
    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
        return 0;
    return insn->data + 8 * (ldr >> 10 & 0xfff);
}
