/* The effects of AArch64 instructions on addresses. */
#include "insn_priv.h"

#include <string.h>

enum { FRAME = 29, ZERO_OR_STACK = 31, CONDITION_EQ = 0, CONDITION_NE = 1, FLAG_Z = 4 };

/* Registers that a call need not keep: x0 to x18 and x30. */
static const uint32_t of_callee = 0x4007ffff;

static uint32_t bit(unsigned reg)
{
    return reg == ZERO_OR_STACK ? 0 : (uint32_t)1 << reg;
}

static unsigned field(uint32_t w, unsigned shift)
{
    return w >> shift & 31;
}

/* Of a register where 31 is the stack pointer, which is its number as a base, too. */
static uint32_t bit_or_stack(unsigned reg)
{
    return (uint32_t)1 << reg;
}

/* The signed number of `n` bits from `shift` on. */
static uint64_t signed_field(uint32_t w, unsigned shift, unsigned n)
{
    uint64_t sign = (uint64_t)1 << (n - 1), number = w >> shift & (sign * 2 - 1);
    return (number ^ sign) - sign;
}

static struct pgk_insn_operand value(int base, uint64_t number)
{
    return (struct pgk_insn_operand){PGK_OPERAND_VALUE, base, number};
}

static struct pgk_insn_operand reg_value(unsigned reg)
{
    return value(reg == ZERO_OR_STACK ? -1 : (int)reg, 0);
}

/* A literal, and 8 bytes at a register and a distance, are values that can be known. */
static void of_memory_value(uint32_t w, uint64_t addr, struct pgk_insn_effect *e)
{
    struct pgk_insn insn;
    if ((w & 0xff000000) == 0x58000000) {
        pgk_arm64_decode(NULL, (const uint8_t *)&w, sizeof w, addr, &insn);
        e->reg = (int)field(w, 0);
        e->a = (struct pgk_insn_operand){PGK_OPERAND_MEMORY, -1, insn.data};
    } else if ((w & 0xffc00000) == 0xf9400000) {
        e->reg = (int)field(w, 0);
        e->a = (struct pgk_insn_operand){PGK_OPERAND_MEMORY, (int)field(w, 5),
                                         (w >> 10 & 0xfff) * 8};
    } else if ((w & 0xffe00c00) == 0xf8400000) { /* ldur */
        e->reg = (int)field(w, 0);
        e->a = (struct pgk_insn_operand){PGK_OPERAND_MEMORY, (int)field(w, 5),
                                         signed_field(w, 12, 9)};
    }
    e->reg = e->reg == ZERO_OR_STACK ? -1 : e->reg;
}

/* Stores in the frame, which do not move what it is found by. */
static void of_frame_store(uint32_t w, struct pgk_insn_effect *e)
{
    bool vector = w >> 26 & 1, at_number = (w & 0x3b000000) == 0x39000000;
    bool near = (w & 0x3b200c00) == 0x38000000, is_pair = (w & 0x3b800000) == 0x29000000 ||
                                                          (w & 0x3b800000) == 0x28000000;
    unsigned base = field(w, 5), opc = w >> 22 & 3;
    uint32_t one = is_pair ? (vector ? 4 : w >> 31 ? 8 : 4) << (vector ? w >> 30 : 0)
                           : vector && opc == 2 ? 16 : 1 << (w >> 30);
    bool store = is_pair ? !(opc & 1) : !opc || (vector && opc == 2);
    if (!store || !(at_number || near || is_pair) || (base != FRAME && base != ZERO_OR_STACK))
        return;
    uint64_t at = is_pair     ? signed_field(w, 15, 7) * one
                  : at_number ? (uint64_t)(w >> 10 & 0xfff) * one
                              : signed_field(w, 12, 9);
    e->place = (struct pgk_insn_operand){PGK_OPERAND_MEMORY, (int)base, at};
    e->stores = is_pair ? 2 * one : one;
    if (!is_pair && !vector && one == 8 && field(w, 0) != ZERO_OR_STACK)
        e->stored = reg_value(field(w, 0));
}

/* Loads and stores: a load changes its first register, or two; some forms move the base. */
static void of_memory(uint32_t w, uint64_t addr, struct pgk_insn_effect *e)
{
    bool vector = w >> 26 & 1, is_pair = (w & 0x3a000000) == 0x28000000;
    bool literal = (w & 0x3b000000) == 0x18000000, at_number = (w & 0x3b000000) == 0x39000000,
         near = (w & 0x3b200000) == 0x38000000, at_register = (w & 0x3b200c00) == 0x38200800;
    bool load = is_pair ? w >> 22 & 1 : literal || (w >> 22 & 3);
    bool moves_base = is_pair ? w >> 23 & 1 : near && w >> 10 & 1;
    if (is_pair || literal || at_number || near || at_register) {
        e->changed = (vector || !load ? 0 : bit(field(w, 0))) |
                     (vector || !load || !is_pair ? 0 : bit(field(w, 10))) |
                     (moves_base ? bit_or_stack(field(w, 5)) : 0);
        of_memory_value(w, addr, e);
        of_frame_store(w, e);
    } else { /* atomic ones, and others that are rare */
        e->changed = bit(field(w, 0)) | bit(field(w, 5)) | bit(field(w, 10)) | bit(field(w, 16));
    }
}

/* Sums of a register and a number, and numbers. */
static void of_immediate(uint32_t w, uint64_t addr, struct pgk_insn_effect *e)
{
    struct pgk_insn insn;
    unsigned rd = field(w, 0), rn = field(w, 5);
    uint64_t number = w >> 10 & 0xfff;
    bool flags = w >> 29 & 1, known = false, to_stack = false;
    if ((w & 0x1f000000) == 0x10000000) { /* adr, adrp */
        pgk_arm64_decode(NULL, (const uint8_t *)&w, sizeof w, addr, &insn);
        e->a = value(-1, insn.data);
        known = true;
    } else if ((w & 0x1f800000) == 0x11000000) { /* add, sub */
        number <<= w >> 22 & 1 ? 12 : 0;
        e->flags = flags ? PGK_FLAGS_LOST : PGK_FLAGS_KEPT;
        known = w >> 31 && !flags && rn != ZERO_OR_STACK;
        to_stack = !flags;
        if (known)
            e->a = value((int)rn, w >> 30 & 1 ? -number : number);
    } else if ((w & 0x7f800000) == 0x52800000) { /* movz */
        e->a = value(-1, (uint64_t)(w >> 5 & 0xffff) << ((w >> 21 & 3) * 16));
        known = true;
    } else if ((w & 0x7f800000) == 0x72000000) { /* ands */
        e->flags = PGK_FLAGS_LOST;
    } else if ((w & 0x1f800000) == 0x12000000) { /* and, orr, eor */
        to_stack = true;
    }
    e->changed = to_stack ? bit_or_stack(rd) : bit(rd);
    e->reg = known && rd != ZERO_OR_STACK ? (int)rd : -1;
}

static enum pgk_insn_asks choice(uint32_t w)
{
    unsigned condition = w >> 12 & 15;
    return condition == CONDITION_EQ || condition == CONDITION_NE ? PGK_ASKS_CHOICE
                                                                  : PGK_ASKS_NOTHING;
}

static void of_registers(uint32_t w, struct pgk_insn_effect *e)
{
    unsigned rd = field(w, 0), rn = field(w, 5), rm = field(w, 16);
    bool to_stack = (w & 0x3fe00000) == 0x0b200000; /* add, sub of a part of a register */
    e->changed = to_stack ? bit_or_stack(rd) : bit(rd);
    if ((w & 0xffe0fc1f) == 0xeb00001f) { /* cmp */
        e->flags = PGK_FLAGS_COMPARE;
        e->a = reg_value(rn);
        e->b = reg_value(rm);
    } else if ((w & 0xffe00c10) == 0xfa400000) { /* ccmp */
        bool is_or = (w >> 12 & 15) == CONDITION_NE && w & FLAG_Z;
        e->changed = 0;
        e->flags = is_or ? PGK_FLAGS_OR_EQUAL : PGK_FLAGS_LOST;
        e->a = reg_value(rn);
        e->b = reg_value(rm);
    } else if ((w & 0xffe0ffe0) == 0xaa0003e0) { /* mov */
        e->reg = rd == ZERO_OR_STACK ? -1 : (int)rd;
        e->a = reg_value(rm);
    } else if ((w & 0x3fe00000) == 0x1a800000) { /* csel, csinc, csinv, csneg */
        e->asks = choice(w);
    } else if ((w & 0x1f000000) == 0x0b000000 || (w & 0x1fe00000) == 0x1a000000) {
        e->flags = w >> 29 & 1 ? PGK_FLAGS_LOST : PGK_FLAGS_KEPT; /* adds, subs, adcs, sbcs */
    } else if ((w & 0x1f000000) == 0x0a000000) {
        e->flags = (w >> 29 & 3) == 3 ? PGK_FLAGS_LOST : PGK_FLAGS_KEPT; /* ands, bics */
    } else if ((w & 0x1fe00000) == 0x1a400000) { /* ccmp with a number, ccmn */
        e->changed = 0;
        e->flags = PGK_FLAGS_LOST;
    }
}

/* Floating-point and vector instructions: few write to general registers. */
static void of_vectors(uint32_t w, struct pgk_insn_effect *e)
{
    bool converts = (w & 0x5f20fc00) == 0x1e200000 || (w & 0x5f200000) == 0x1e000000;
    bool moves = (w & 0xbfe0ec00) == 0x0e002c00; /* smov, umov */
    bool compares = (w & 0x5f203c00) == 0x1e202000 || (w & 0x5f200c00) == 0x1e200400;
    e->changed = converts || moves ? bit(field(w, 0)) : 0;
    e->flags = compares ? PGK_FLAGS_LOST : PGK_FLAGS_KEPT;
}

static void of_branches(uint32_t w, const struct pgk_insn *insn, struct pgk_insn_effect *e)
{
    unsigned condition = w & 15;
    bool hint = (w & 0xfffff01f) == 0xd503201f; /* nop and the like */
    e->changed = 0;
    if (insn->kind == PGK_INSN_CALL) {
        e->changed = of_callee;
        e->flags = PGK_FLAGS_LOST;
    } else if ((w & 0xff000000) == 0x54000000) {
        e->asks = condition == CONDITION_EQ   ? PGK_ASKS_JUMP
                  : condition == CONDITION_NE ? PGK_ASKS_JUMP_UNLESS
                                              : PGK_ASKS_NOTHING;
    } else if (insn->kind == PGK_INSN_OTHER && !hint) { /* of the system */
        e->changed = bit(field(w, 0));
        e->flags = PGK_FLAGS_LOST;
    }
}

void pgk_arm64_effect(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, struct pgk_insn_effect *e)
{
    (void)d;
    uint32_t w;
    struct pgk_insn insn;
    *e = (struct pgk_insn_effect){
        .changed = UINT32_MAX, .reg = -1, .a = {.base = -1}, .b = {.base = -1},
        .place = {.base = -1}, .stored = {.base = -1}};
    pgk_arm64_decode(NULL, bytes, n, addr, &insn);
    if (!insn.valid) {
        e->flags = PGK_FLAGS_LOST;
        return;
    }
    memcpy(&w, bytes, sizeof w);
    e->pads = w == 0xd503201f; /* nop */
    switch (w >> 25 & 15) {
    case 8: case 9:
        of_immediate(w, addr, e);
        break;
    case 10: case 11:
        of_branches(w, &insn, e);
        break;
    case 4: case 6: case 12: case 14:
        of_memory(w, addr, e);
        break;
    case 5: case 13:
        of_registers(w, e);
        break;
    case 7: case 15:
        of_vectors(w, e);
        break;
    default: /* scalable vectors, and what is not given out */
        e->changed = bit(field(w, 0));
        e->flags = PGK_FLAGS_LOST;
    }
}

/* The first instruction of a pair names a page, or an address. */
bool pgk_arm64_may_name(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                        uint64_t addr, uint64_t low, uint64_t high)
{
    enum { PAGE = 4096, LENGTH = 4 };
    struct pgk_insn insn;
    for (size_t i = 0; i + LENGTH <= n; i += LENGTH) {
        pgk_arm64_decode(d, bytes + i, n - i, addr + i, &insn);
        if (insn.data && insn.data + PAGE > low && insn.data <= high)
            return true;
    }
    return false;
}
