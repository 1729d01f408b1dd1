/* Which tables of offsets code of AArch64 jumps by. */
#include "arm64_jump_table.h"

#include "insn_effect.h"
#include "insn_priv.h"

enum { ZERO_OR_STACK = 31, OFFSETS_IN_INSTRUCTIONS = 2 };

static unsigned field(uint32_t w, unsigned shift)
{
    return w >> shift & 31;
}

/* ---- how many values an index has ---- */

/* cmp with a number. */
static bool is_compare(uint32_t w)
{
    return (w & 0x7f80001f) == 0x7100001f;
}

static void compare(struct pgk_arm64_jumps *j, uint32_t w)
{
    j->was_compared = true;
    j->compared = field(w, 5);
    j->compared_with = (uint64_t)(w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
}

/* A comparison of order leads to a table on one of its paths, the one with the register below the
 * number: after it, or at its target. */
static void branch(struct pgk_arm64_jumps *j, uint32_t w, const struct pgk_insn *insn)
{
    enum { HS = 2, LO = 3, HI = 8, LS = 9 };
    const unsigned condition = w & 15, reg = j->compared;
    if (!j->was_compared || reg == ZERO_OR_STACK)
        return;
    const uint64_t values = j->compared_with + (condition == HI || condition == LS);
    if (condition == HI || condition == HS)
        j->reg[reg].values = values;
    if (condition != LS && condition != LO)
        return;
    const unsigned i = j->jumps++ % PGK_ARM64_AHEAD;
    j->ahead[i].target = insn->target;
    j->ahead[i].values = values;
    j->ahead[i].reg = reg;
}

static void arrive(struct pgk_arm64_jumps *j, uint64_t addr)
{
    for (unsigned i = 0; i < PGK_ARM64_AHEAD && i < j->jumps; i++)
        if (j->ahead[i].target == addr)
            j->reg[j->ahead[i].reg].values = j->ahead[i].values;
}

/* Values that the destination can have by the instruction itself; 0: all. */
static uint64_t values_of(const struct pgk_arm64_jumps *j, uint32_t w)
{
    const unsigned low = w >> 16 & 63, high = w >> 10 & 63;
    if ((w & 0x7fe0ffe0) == 0x2a0003e0 && field(w, 16) != ZERO_OR_STACK) /* mov */
        return j->reg[field(w, 16)].values;
    if ((w & 0x7f800000) == 0x12000000 && low == 0 && high < 31) /* and, with low bits */
        return w >> 31 && !(w >> 22 & 1) ? 0 : UINT64_C(2) << high;
    if ((w & 0x7f800000) == 0x53000000 && high >= low && high - low < 31) /* ubfx, uxtb, lsr */
        return UINT64_C(2) << (high - low);
    if ((w & 0xffc00000) == 0x39400000 || (w & 0xffe00000) == 0x38400000 ||
        (w & 0xffe00c00) == 0x38600800) /* ldrb */
        return UINT64_C(1) << 8;
    return 0;
}

/* ---- constants, entries and targets ---- */

/* Loads of an entry: a constant, and a register that is scaled by the size of an entry. */
static bool is_entry(const struct pgk_arm64_jumps *j, uint32_t w, struct pgk_arm64_jump_table *t)
{
    const unsigned base = field(w, 5), index = field(w, 16), size = w >> 30, kind = w >> 22 & 3;
    if ((w & 0x3f200c00) != 0x38200800 || size > 2 || !kind || base == ZERO_OR_STACK ||
        index == ZERO_OR_STACK || j->reg[base].is != PGK_ARM64_CONSTANT ||
        (size && !(w >> 12 & 1)))
        return false;
    *t = (struct pgk_arm64_jump_table){.table = j->reg[base].constant,
                                       .n = j->reg[index].values ? j->reg[index].values
                                                                 : UINT64_MAX,
                                       .bytes = (uint8_t)(1u << size),
                                       .is_signed = kind != 1};
    return true;
}

/* Sums of a constant and an entry, which is extended and shifted as the instruction says. */
static bool is_target(const struct pgk_arm64_jumps *j, uint32_t w, struct pgk_arm64_jump_table *t)
{
    const bool extended = (w & 0xffe00000) == 0x8b200000, shifted = (w & 0xffe00000) == 0x8b000000;
    unsigned base = field(w, 5), entry = field(w, 16);
    if (!extended && !shifted)
        return false;
    if (shifted && !(w >> 10 & 63) && j->reg[base].is == PGK_ARM64_ENTRY) {
        base = entry;
        entry = field(w, 5);
    }
    if (j->reg[base].is != PGK_ARM64_CONSTANT || j->reg[entry].is != PGK_ARM64_ENTRY)
        return false;
    const unsigned extends = extended ? w >> 13 & 7 : 3; /* uxtb, uxth, uxtw, uxtx, sxtb, ... */
    const unsigned shift = extended ? w >> 10 & 7 : w >> 10 & 63;
    *t = j->reg[entry].table;
    if (1u << (extends & 3) < t->bytes || (shift && shift != OFFSETS_IN_INSTRUCTIONS))
        return false;
    if (1u << (extends & 3) == t->bytes)
        t->is_signed = extends & 4;
    t->shift = (uint8_t)shift;
    t->anchor = j->reg[base].constant;
    return true;
}

/* Updates the known values of registers for an instruction. */
static void set(struct pgk_arm64_jumps *j, uint32_t w, const struct pgk_insn_effect *e)
{
    const unsigned to = field(w, 0);
    struct pgk_arm64_jump_table table;
    const bool entry = is_entry(j, w, &table), target = !entry && is_target(j, w, &table);
    const uint64_t values = values_of(j, w);
    bool constant = e->reg >= 0 && e->a.kind == PGK_OPERAND_VALUE;
    uint64_t value = e->a.value;
    if (constant && e->a.base >= 0) {
        constant = j->reg[e->a.base].is == PGK_ARM64_CONSTANT;
        value += j->reg[e->a.base].constant;
    }
    for (int i = 0; i < PGK_ARM64_REGISTERS; i++)
        if (e->changed >> i & 1) {
            j->reg[i].is = PGK_ARM64_UNKNOWN;
            j->reg[i].values = 0;
        }
    if (constant) {
        j->reg[e->reg].is = PGK_ARM64_CONSTANT;
        j->reg[e->reg].constant = value;
    }
    if (to == ZERO_OR_STACK || !(e->changed >> to & 1))
        return;
    j->reg[to].values = values;
    if (entry || target) {
        j->reg[to].is = entry ? PGK_ARM64_ENTRY : PGK_ARM64_TARGET;
        j->reg[to].table = table;
    }
}

bool pgk_arm64_jumps_step(struct pgk_arm64_jumps *j, uint32_t w, uint64_t addr,
                          struct pgk_arm64_jump_table *table)
{
    struct pgk_insn_effect e;
    struct pgk_insn insn;
    pgk_arm64_decode(NULL, (const uint8_t *)&w, sizeof w, addr, &insn);
    if (j->left)
        arrive(j, addr);
    j->left = !pgk_insn_falls_through(&insn);
    if ((w & 0xfffffc1f) == 0xd61f0000) { /* br */
        const unsigned to = field(w, 5);
        *table = j->reg[to].table;
        return j->reg[to].is == PGK_ARM64_TARGET;
    }
    pgk_arm64_effect(NULL, (const uint8_t *)&w, sizeof w, addr, &e);
    if ((w & 0xff000010) == 0x54000000)
        branch(j, w, &insn);
    set(j, w, &e);
    if (is_compare(w))
        compare(j, w);
    else if (e.flags != PGK_FLAGS_KEPT || e.changed >> j->compared & 1)
        j->was_compared = false;
    return false;
}
