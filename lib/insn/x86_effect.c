/* The effects of x86-64 instructions on addresses. */
#include "x86_priv.h"

#include <string.h>

enum { RAX = 0, RCX = 1, RDX = 2, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R8 = 8, R11 = 11 };

/* Registers that a call need not keep. */
enum {
    OF_CALLEE = 1 << RAX | 1 << RCX | 1 << RDX | 1 << RSI | 1 << RDI | 0xf << R8,
};
_Static_assert(R11 == R8 + 3, "four in a row");

/* The number of a general register of any width; -1 for another one. */
static int number_of(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
               ? (int)(whole - ZYDIS_REGISTER_RAX)
               : -1;
}

/* The place of a memory operand: a register and a displacement, or an address. False for any other,
 * such as an index into a table or a thread variable. */
static bool place_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
                     uint64_t addr, struct pgk_insn_operand *place)
{
    const ZydisDecodedOperandMem *m = &op->mem;
    if (m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS ||
        m->index != ZYDIS_REGISTER_NONE)
        return false;
    place->base = -1;
    place->value = (uint64_t)m->disp.value;
    if (m->base == ZYDIS_REGISTER_RIP)
        place->value += addr + in->length;
    else if (m->base != ZYDIS_REGISTER_NONE)
        return (place->base = number_of(m->base)) >= 0;
    return true;
}

static struct pgk_insn_operand read_operand(const ZydisDecodedInstruction *in,
                                            const ZydisDecodedOperand *op, uint64_t addr)
{
    struct pgk_insn_operand o = {.base = -1};
    bool wide = op->size == 64 || op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && wide && (o.base = number_of(op->reg.value)) >= 0)
        o.kind = PGK_OPERAND_VALUE;
    else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && wide && place_of(in, op, addr, &o))
        o.kind = PGK_OPERAND_MEMORY;
    else if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        o.kind = PGK_OPERAND_VALUE;
        o.value = op->imm.value.u;
    }
    return o;
}

static uint32_t changed_by(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
    uint32_t changed = in->meta.category == ZYDIS_CATEGORY_CALL ? OF_CALLEE : 0;
    for (unsigned i = 0; i < in->operand_count; i++)
        if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
            int number = number_of(ops[i].reg.value);
            changed |= number < 0 ? 0 : (uint32_t)1 << number;
        }
    /* A callee restores the stack pointer. */
    return in->meta.category == ZYDIS_CATEGORY_CALL ? changed & ~(1u << RSP) : changed;
}

/* Stores to the frame, at a place that registers and numbers give. */
static void find_store(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
                       uint64_t addr, struct pgk_insn_effect *e)
{
    for (unsigned i = 0; i < in->operand_count_visible; i++)
        if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
            place_of(in, &ops[i], addr, &e->place) &&
            (e->place.base == RSP || e->place.base == RBP)) {
            e->place.kind = PGK_OPERAND_MEMORY;
            e->stores = ops[i].size / 8u;
        }
    if (e->stores == 8 && in->mnemonic == ZYDIS_MNEMONIC_MOV)
        e->stored = read_operand(in, &ops[1], addr);
}

static bool is_register(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_immediate(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* The new value of the first operand, if it is a register. */
static void find_value(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
                       uint64_t addr, struct pgk_insn_effect *e)
{
    struct pgk_insn_operand to = read_operand(in, &ops[0], addr);
    /* a number of 32 bits that is moved to half a register fills it */
    bool fills = in->mnemonic == ZYDIS_MNEMONIC_MOV && is_immediate(&ops[1]) && ops[0].size >= 32;
    if (ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER || (ops[0].size != 64 && !fills))
        return;
    e->reg = number_of(ops[0].reg.value);
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_LEA:
        if (place_of(in, &ops[1], addr, &e->a))
            e->a.kind = PGK_OPERAND_VALUE;
        break;
    case ZYDIS_MNEMONIC_MOV:
        e->a = read_operand(in, &ops[1], addr);
        if (ops[0].size == 32)
            e->a.value &= UINT32_MAX;
        break;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (!is_immediate(&ops[1]))
            break;
        e->a = to;
        e->a.value = in->mnemonic == ZYDIS_MNEMONIC_ADD ? ops[1].imm.value.u
                                                        : -ops[1].imm.value.u;
        break;
    default:
        break;
    }
    if (e->a.kind == PGK_OPERAND_UNKNOWN)
        e->reg = -1;
}

static enum pgk_insn_asks asks_what(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_JZ:
        return PGK_ASKS_JUMP;
    case ZYDIS_MNEMONIC_JNZ:
        return PGK_ASKS_JUMP_UNLESS;
    case ZYDIS_MNEMONIC_CMOVZ:
    case ZYDIS_MNEMONIC_CMOVNZ:
    case ZYDIS_MNEMONIC_SETZ:
    case ZYDIS_MNEMONIC_SETNZ:
        return PGK_ASKS_CHOICE;
    default:
        return PGK_ASKS_NOTHING;
    }
}

static bool changes_zero_flag(const ZydisDecodedInstruction *in)
{
    const ZydisAccessedFlags *f = in->cpu_flags;
    return in->meta.category == ZYDIS_CATEGORY_CALL ||
           (f && (f->modified | f->set_0 | f->set_1 | f->undefined) & ZYDIS_CPUFLAG_ZF);
}

void pgk_x86_effect(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                    struct pgk_insn_effect *e)
{
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    *e = (struct pgk_insn_effect){
        .changed = UINT32_MAX, .reg = -1, .a = {.base = -1}, .b = {.base = -1},
        .flags = PGK_FLAGS_LOST, .place = {.base = -1}, .stored = {.base = -1}};
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(d->zydis, bytes, n, &in, ops)))
        return;
    e->pads = in.mnemonic == ZYDIS_MNEMONIC_NOP || in.mnemonic == ZYDIS_MNEMONIC_INT3 ||
              (in.mnemonic == ZYDIS_MNEMONIC_XCHG && is_register(&ops[1]) &&
               ops[0].reg.value == ops[1].reg.value);
    e->changed = changed_by(&in, ops);
    e->flags = changes_zero_flag(&in) ? PGK_FLAGS_LOST : PGK_FLAGS_KEPT;
    e->asks = asks_what(in.mnemonic);
    find_store(&in, ops, addr, e);
    if (in.mnemonic == ZYDIS_MNEMONIC_CMP && ops[0].size == 64) {
        e->flags = PGK_FLAGS_COMPARE;
        e->a = read_operand(&in, &ops[0], addr);
        e->b = read_operand(&in, &ops[1], addr);
    } else if (in.operand_count_visible == 2) {
        find_value(&in, ops, addr, e);
    }
}

/* An address stands in code as it is, or as its distance from the end of the instruction, and
 * an immediate of up to 4 bytes may follow it. */
bool pgk_x86_may_name(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, uint64_t low, uint64_t high)
{
    enum { DISTANCE = 4, IMMEDIATE = 4 };
    const uint64_t length = high - low, length_around = length + IMMEDIATE;
    (void)d;
    for (size_t i = 0; i + DISTANCE <= n; i++) {
        int32_t number;
        memcpy(&number, bytes + i, sizeof number);
        uint64_t named = addr + i + DISTANCE + (uint64_t)(int64_t)number;
        if ((uint32_t)number - low <= length || named + IMMEDIATE - low <= length_around)
            return true;
    }
    return false;
}
