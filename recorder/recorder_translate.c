/* Copies of straight-line code. An instruction with an operand relative to the program counter gets
 * it through a register that it does not use, which is saved and restored around it. */
#include "guest_bytes.h"
#include "guest_processor.h"
#include "recorder_counting.h"
#include "recorder_options.h"
#include "recorder_take.h"
#include "recorder_writer.h"

enum {
    ADDRESS = 10, /* of one that loads an address into a register */
    TAIL = 4 * PGBR_KEEP + 14,
    LOAD_MOST = 3 * PGBR_KEEP + ADDRESS, /* of the instructions that note an address */
    BLOCK_MOST = PGBR_BLOCK_INSNS * (2 * PGBR_KEEP + ADDRESS + PGBR_INSN_MAX + LOAD_MOST) +
                 PGBR_COUNTING_MOST + TAIL,
};

/* The first instructions of all: how the stub goes on. */
void pgbr_prepare_code(struct pgbr_engine *x)
{
    struct pgbr_writer w = {x, x->code + PGBR_CODE_BYTES, (u64)x->code};
    x->leave_code = (u64)x->code;
    pgbr_put_beside(&w, PGBR_LOAD, PGBR_RCX, &x->regs[PGBR_RCX]);
    pgbr_put(&w, 0x25ff, 2); /* jmp *target(%rip) */
    pgbr_put(&w, (u64)&x->target - (w.runs_at + 4), 4);
    x->write = w.at;
    x->code_at = (uint8_t *)w.runs_at;
    x->blocks_n = 0;
    x->generation++;
    x->targets_at = (u64)x->targets;
    for (u32 i = 0; x->counts && i < PGBR_TARGETS; i++)
        x->targets[i][0].pc = x->targets[i][1].pc = i == 1 ? 2 : 1; /* are not looked for here */
    for (u32 i = 0; i < PGBR_SLOTS; i++)
        x->slots[i] = 0;
}

static u32 stand_in(const struct pgbr_insn *i)
{
    return !(i->used & 1 << PGBR_RSI) ? PGBR_RSI : !(i->used & 1 << PGBR_RDI) ? PGBR_RDI : PGBR_RBX;
}

/* The same instruction with its operand at a register; what extended the register's number goes. */
static void put_through(struct pgbr_writer *w, const struct pgbr_insn *i, const uint8_t *source,
                        u32 reg)
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
        pgbr_put(w, byte, 1);
    }
}

static void put_copy(struct pgbr_writer *w, const struct pgbr_insn *i, const uint8_t *source,
                     u64 pc)
{
    if (!i->beside) {
        for (u32 k = 0; k < i->length; k++)
            pgbr_put(w, source[k], 1);
        return;
    }
    const u32 reg = stand_in(i);
    pgbr_put_beside(w, PGBR_STORE, reg, &w->x->held);
    pgbr_put(w, 0xb848 | (u64)reg << 8, 2); /* movabs */
    pgbr_put(w, pc + i->length + (u64)i->disp, 8);
    put_through(w, i, source, reg);
    pgbr_put_beside(w, PGBR_LOAD, reg, &w->x->held);
}

/* Notes where the instruction is about to read or write. Flags stay as they are. */
static void put_note(struct pgbr_writer *w, const struct pgbr_insn *i, u64 pc, u64 *note)
{
    pgbr_put_beside(w, PGBR_STORE, PGBR_RSI, &w->x->held);
    if (i->beside) {
        pgbr_put(w, 0xb848 | (u64)PGBR_RSI << 8, 2); /* movabs */
        pgbr_put(w, pc + i->length + (u64)i->disp, 8);
    } else {
        pgbr_put_with_operand(w, PGBR_LOAD_ADDRESS, i, PGBR_RSI);
    }
    pgbr_put_beside(w, PGBR_STORE, PGBR_RSI, note);
    pgbr_put_beside(w, PGBR_LOAD, PGBR_RSI, &w->x->held);
}

/* What a library asks for: not what is on the stack, or beside code. */
static bool is_asked_for(const struct pgbr_insn *i)
{
    return i->bytes && !i->beside && i->base != PGBR_RSP;
}

/* Notes accesses of the next instruction of the block. */
static void put_notes(struct pgbr_writer *w, struct pgbr_block *b, u64 pc)
{
    const struct pgbr_insn *i = &b->branch;
    const uint8_t *before = w->at;
    const u32 n = b->insns;
    b->length[n].does = b->length[n].note = 0;
    if (w->x->counts)
        return;
    if (pgbr_accesses.take && i->string) {
        pgbr_put_beside(w, PGBR_STORE, PGBR_RSI, &w->x->string_si);
        pgbr_put_beside(w, PGBR_STORE, PGBR_RDI, &w->x->string_di);
    } else if (pgbr_accesses.take ? is_asked_for(i) : i->loads && pgbr_options.loads) {
        put_note(w, i, pc, &w->x->addresses[n]);
        b->length[n].accessed = i->bytes;
        b->length[n].does = (i->reads ? PGBR_READS : 0) | (i->writes ? PGBR_WRITES : 0);
    }
    b->length[n].note = (uint8_t)(w->at - before);
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
    struct pgbr_writer w = {x, x->write, (u64)x->code_at};
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
        put_notes(&w, b, pc);
        put_copy(&w, &b->branch, b->source + b->bytes - b->branch.length, pc);
        b->length[b->insns].from = b->branch.length;
        b->length[b->insns++].to = (uint8_t)(w.at - before);
        pc = b->next;
        const bool full = b->insns == PGBR_BLOCK_INSNS ||
                          b->bytes > PGBR_BLOCK_BYTES - PGBR_INSN_MAX;
        if (full || (pgbr_accesses.take && b->branch.string && !x->counts))
            break;
    }
    b->tail = w.runs_at;
    if (x->counts)
        pgbr_put_counting(&w, b);
    pgbr_put_tail(&w, b);
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
    if (x->blocks_n == PGBR_BLOCKS || x->code_at + BLOCK_MOST > x->code + PGBR_CODE_BYTES) {
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
    static const int of_context[] = {
        [PGBR_RBX] = REG_RBX, [PGBR_RSI] = REG_RSI, [PGBR_RDI] = REG_RDI};
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
    if (x->counts && code >= b->tail + PGBR_KEEP && b->branch.kind >= PGBR_CALL)
        regs[REG_RCX] = (greg_t)x->regs[PGBR_RCX];
    if (i < b->insns)
        pgbr_decode(&insn, b->source + (pc - b->pc), b->length[i].from);
    if (insn.beside && code >= at + b->length[i].note + PGBR_KEEP) {
        regs[of_context[stand_in(&insn)]] = (greg_t)x->held;
        if (code == at + b->length[i].to - PGBR_KEEP) /* it has run */
            pc += insn.length;
    }
    return pc;
}
