/* Copies of straight-line code. An instruction with an operand relative to the program counter gets
 * it through a register that it does not use, which is saved and restored around it. */
#include "guest_bytes.h"
#include "guest_processor.h"
#include "recorder_engine.h"
#include "recorder_options.h"

enum {
    KEEP = 7,     /* bytes of an instruction that moves a register to or from the engine */
    ADDRESS = 10, /* of one that loads an address into a register */
    TAIL = 4 * KEEP + 14,
    LOAD_MOST = 3 * KEEP + ADDRESS, /* of the instructions that note a load's address */
    BLOCK_MOST = PGBR_BLOCK_INSNS * (2 * KEEP + ADDRESS + PGBR_INSN_MAX + LOAD_MOST) + TAIL,
    RAX = 0, RCX = 1, RBX = 3, RSI = 6, RDI = 7,
};

struct writer {
    struct pgbr_engine *x;
    uint8_t *at;
    u64 runs_at; /* where what is written at `at` will run */
};

static void put(struct writer *w, u64 bytes, u32 n)
{
    for (; n; n--, bytes >>= 8) {
        *w->at++ = (uint8_t)bytes;
        w->runs_at++;
    }
}

/* An instruction of this opcode with a register, and with an operand of the engine. */
static void put_beside(struct writer *w, uint8_t opcode, u32 reg, const void *operand)
{
    put(w, 0x48 | (u64)opcode << 8 | (u64)(5 | reg << 3) << 16, 3);
    put(w, (u64)operand - (w->runs_at + 4), 4);
}

enum { STORE = 0x89, LOAD = 0x8b, LOAD_ADDRESS = 0x8d };

/* The first instructions of all: how the stub goes on. */
void pgbr_prepare_code(struct pgbr_engine *x)
{
    struct writer w = {x, x->code + PGBR_CODE_BYTES, (u64)x->code};
    x->leave_code = (u64)x->code;
    put_beside(&w, LOAD, RCX, &x->regs[RCX]);
    put(&w, 0x25ff, 2); /* jmp *target(%rip) */
    put(&w, (u64)&x->target - (w.runs_at + 4), 4);
    x->write = w.at;
    x->code_at = (uint8_t *)w.runs_at;
    x->blocks_n = 0;
    for (u32 i = 0; i < PGBR_SLOTS; i++)
        x->slots[i] = 0;
}

static u32 stand_in(const struct pgbr_insn *i)
{
    return !(i->used & 1 << RSI) ? RSI : !(i->used & 1 << RDI) ? RDI : RBX;
}

/* The same instruction with its operand at a register; what extended the register's number goes. */
static void put_through(struct writer *w, const struct pgbr_insn *i, const uint8_t *source, u32 reg)
{
    for (u32 k = 0; k < i->length; k++) {
        uint8_t byte = source[k];
        if (k >= i->disp_at && k < i->disp_at + 4u)
            continue;
        if (k == i->modrm_at)
            byte = (uint8_t)((byte & 0x38) | reg);
        else if (i->has_prefix && k == i->prefix_at && (byte & 0xf0) == 0x40)
            byte &= 0xfe;
        else if (i->has_prefix && k == i->prefix_at + 1u &&
                 (source[i->prefix_at] == 0xc4 || source[i->prefix_at] == 0x62))
            byte |= 0x20;
        put(w, byte, 1);
    }
}

static void put_copy(struct writer *w, const struct pgbr_insn *i, const uint8_t *source, u64 pc)
{
    if (!i->beside) {
        for (u32 k = 0; k < i->length; k++)
            put(w, source[k], 1);
        return;
    }
    const u32 reg = stand_in(i);
    put_beside(w, STORE, reg, &w->x->held);
    put(w, 0xb848 | (u64)reg << 8, 2); /* movabs */
    put(w, pc + i->length + (u64)i->disp, 8);
    put_through(w, i, source, reg);
    put_beside(w, LOAD, reg, &w->x->held);
}

/* Computes the address of a memory operand, in a register. */
static void put_operand_address(struct writer *w, const struct pgbr_insn *i, u32 reg)
{
    enum { NO_BASE = 5, NO_INDEX = 4, HAS_SIB = 4 };
    const u32 base = i->base == PGBR_NONE ? NO_BASE : i->base,
              index = i->index == PGBR_NONE ? NO_INDEX : i->index,
              scale = i->index == PGBR_NONE ? 0 : (u32)__builtin_ctz(i->scale);
    const u32 mod = i->base == PGBR_NONE ? 0 : 2;
    put(w, 0x48 | (index >> 3) << 1 | base >> 3, 1);
    put(w, LOAD_ADDRESS, 1);
    put(w, mod << 6 | reg << 3 | HAS_SIB, 1);
    put(w, scale << 6 | (index & 7) << 3 | (base & 7), 1);
    put(w, (u64)i->disp, 4);
}

/* Notes from where the load is about to read. Flags stay as they are. */
static void put_note(struct writer *w, const struct pgbr_insn *i, u64 pc, u64 *note)
{
    put_beside(w, STORE, RSI, &w->x->held);
    if (i->beside) {
        put(w, 0xb848 | (u64)RSI << 8, 2); /* movabs */
        put(w, pc + i->length + (u64)i->disp, 8);
    } else {
        put_operand_address(w, i, RSI);
    }
    put_beside(w, STORE, RSI, note);
    put_beside(w, LOAD, RSI, &w->x->held);
}

static void put_tail(struct writer *w, const struct pgbr_block *b)
{
    put_beside(w, STORE, RAX, &w->x->regs[RAX]);
    put_beside(w, STORE, RCX, &w->x->regs[RCX]);
    put_beside(w, LOAD_ADDRESS, RAX, b);
    put_beside(w, LOAD_ADDRESS, RCX, w->x);
    put(w, 0x25ff, 2); /* jmp *8 bytes after it(%rip) */
    put(w, 0, 4);
    put(w, (u64)pgbr_stub, 8);
}

/* Reads at most what is left of the page, and of the next one only what an instruction has there,
 * which may not be mapped. */
static void decode_at(struct pgbr_insn *i, u64 pc)
{
    const size_t left = PGG_PAGE - pc % PGG_PAGE;
    pgbr_decode(i, (const uint8_t *)pc, left);
    if (i->kind == PGBR_UNKNOWN && left < PGBR_INSN_MAX)
        pgbr_decode(i, (const uint8_t *)pc, PGBR_INSN_MAX);
}

void pgbr_translate(struct pgbr_engine *x, struct pgbr_block *b)
{
    struct writer w = {x, x->write, (u64)x->code_at};
    u64 pc = b->pc;
    b->code = w.runs_at;
    b->insns = b->bytes = 0;
    for (;;) {
        const uint8_t *source = (const uint8_t *)pc;
        decode_at(&b->branch, pc);
        for (u32 k = 0; k < b->branch.length; k++)
            b->source[b->bytes + k] = source[k];
        b->bytes = (uint8_t)(b->bytes + b->branch.length);
        b->last = pc;
        b->next = pc + b->branch.length;
        if (b->branch.kind != PGBR_COPY)
            break;
        const uint8_t *before = w.at;
        if (b->branch.loads && pgbr_options.loads)
            put_note(&w, &b->branch, pc, &x->addresses[b->insns]);
        b->length[b->insns].note = (uint8_t)(w.at - before);
        put_copy(&w, &b->branch, b->source + b->bytes - b->branch.length, pc);
        b->length[b->insns].from = b->branch.length;
        b->length[b->insns++].to = (uint8_t)(w.at - before);
        pc = b->next;
        if (b->insns == PGBR_BLOCK_INSNS || b->bytes > PGBR_BLOCK_BYTES - PGBR_INSN_MAX)
            break;
    }
    put_tail(&w, b);
    x->write = w.at;
    x->code_at = (uint8_t *)w.runs_at;
    pgg_serialize();
}

static bool is_unchanged(const struct pgbr_block *b)
{
    const uint8_t *now = (const uint8_t *)b->pc;
    u32 k = 0;
    for (; k + 8 <= b->bytes; k += 8)
        if (*(const pgg_unaligned64 *)(const void *)(now + k) !=
            *(const pgg_unaligned64 *)(const void *)(b->source + k))
            return false;
    for (; k < b->bytes; k++)
        if (now[k] != b->source[k])
            return false;
    return true;
}

/* A block whose code has changed since is abandoned, and the new one takes its slot. */
u64 pgbr_code_at(struct pgbr_engine *x, u64 pc)
{
    u32 slot = (u32)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 52);
    for (; x->slots[slot]; slot = (slot + 1) % PGBR_SLOTS) {
        const struct pgbr_block *b = &x->blocks[x->slots[slot] - 1];
        if (b->pc != pc)
            continue;
        if (is_unchanged(b))
            return b->code;
        break;
    }
    if (x->blocks_n == PGBR_BLOCKS ||
        x->code_at + BLOCK_MOST > x->code + PGBR_CODE_BYTES) {
        pgbr_prepare_code(x);
        return pgbr_code_at(x, pc);
    }
    struct pgbr_block *b = &x->blocks[x->blocks_n];
    b->pc = pc;
    pgbr_translate(x, b);
    x->slots[slot] = (uint16_t)++x->blocks_n;
    return b->code;
}

/* The block of a place in the code; blocks lie in the order in which they were made. */
static const struct pgbr_block *block_of(const struct pgbr_engine *x, u64 code)
{
    u32 i = x->blocks_n;
    while (i && x->blocks[i - 1].code > code)
        i--;
    return i ? &x->blocks[i - 1] : NULL;
}

u64 pgbr_place_of(struct pgbr_engine *x, u64 code, greg_t *regs)
{
    static const int of_context[] = {[RBX] = REG_RBX, [RSI] = REG_RSI, [RDI] = REG_RDI};
    const struct pgbr_block *b = block_of(x, code);
    if (!b) /* in the few instructions by which the stub goes on */
        return x->at;
    u64 at = b->code, pc = b->pc;
    u32 i = 0;
    for (; i < b->insns && code >= at + b->length[i].to; i++) {
        at += b->length[i].to;
        pc += b->length[i].from;
    }
    struct pgbr_insn insn = {0};
    if (i < b->insns)
        pgbr_decode(&insn, b->source + (pc - b->pc), b->length[i].from);
    if (insn.beside && code >= at + b->length[i].note + KEEP) {
        regs[of_context[stand_in(&insn)]] = (greg_t)x->held;
        if (code == at + b->length[i].to - KEEP) /* it has run */
            pc += insn.length;
    }
    return pc;
}
