/* Writes code of x86-64 into the memory of an engine. */
#ifndef PGBR_WRITER_H
#define PGBR_WRITER_H

#include "recorder_engine.h"

enum {
    PGBR_KEEP = 7, /* bytes of an instruction that moves a register to or from the engine */
    PGBR_RAX = 0,
    PGBR_RCX = 1,
    PGBR_RDX = 2,
    PGBR_RBX = 3,
    PGBR_RSP = 4,
    PGBR_RSI = 6,
    PGBR_RDI = 7,
    PGBR_STORE = 0x89,
    PGBR_LOAD = 0x8b,
    PGBR_LOAD_ADDRESS = 0x8d,
};

struct pgbr_writer {
    struct pgbr_engine *x;
    uint8_t *at;
    u64 runs_at; /* where what is written at `at` will run */
};

PGG_INLINE void pgbr_put(struct pgbr_writer *w, u64 bytes, u32 n)
{
    for (; n; n--, bytes >>= 8) {
        *w->at++ = (uint8_t)bytes;
        w->runs_at++;
    }
}

/* An instruction of this opcode with a register, and with an operand of the engine. */
PGG_INLINE void pgbr_put_beside(struct pgbr_writer *w, uint8_t opcode, u32 reg, const void *operand)
{
    pgbr_put(w, 0x48 | (u64)opcode << 8 | (u64)(5 | reg << 3) << 16, 3);
    pgbr_put(w, (u64)operand - (w->runs_at + 4), 4);
}

/* An instruction with a register and a memory operand. */
PGG_INLINE void pgbr_put_with_operand(struct pgbr_writer *w, uint8_t opcode,
                                      const struct pgbr_insn *i, u32 reg)
{
    enum { NO_BASE = 5, NO_INDEX = 4, HAS_SIB = 4 };
    const u32 base = i->base == PGBR_NONE ? NO_BASE : i->base,
              index = i->index == PGBR_NONE ? NO_INDEX : i->index,
              scale = i->index == PGBR_NONE ? 0 : (u32)__builtin_ctz(i->scale);
    const u32 mod = i->base == PGBR_NONE ? 0 : 2;
    pgbr_put(w, 0x48 | (index >> 3) << 1 | base >> 3, 1);
    pgbr_put(w, opcode, 1);
    pgbr_put(w, mod << 6 | reg << 3 | HAS_SIB, 1);
    pgbr_put(w, scale << 6 | (index & 7) << 3 | (base & 7), 1);
    pgbr_put(w, (u64)i->disp, 4);
}

PGG_INLINE void pgbr_put_tail(struct pgbr_writer *w, const struct pgbr_block *b)
{
    pgbr_put_beside(w, PGBR_STORE, PGBR_RAX, &w->x->regs[PGBR_RAX]);
    pgbr_put_beside(w, PGBR_STORE, PGBR_RCX, &w->x->regs[PGBR_RCX]);
    pgbr_put_beside(w, PGBR_LOAD_ADDRESS, PGBR_RAX, b);
    pgbr_put_beside(w, PGBR_LOAD_ADDRESS, PGBR_RCX, w->x);
    pgbr_put(w, 0x25ff, 2); /* jmp *8 bytes after it(%rip) */
    pgbr_put(w, 0, 4);
    pgbr_put(w, (u64)pgbr_stub, 8);
}

#endif
