/* Copies that count branches and jump to each other. No instruction of theirs changes flags that
 * the program may yet use, and what may fault does so before anything has changed, but for rcx,
 * which is kept in the engine. */
#include "recorder_counting.h"

#include "guest_calls.h"
#include "guest_processor.h"
#include "recorder_modules.h"
#include "recorder_thread.h"
#include "recorder_writer.h"

enum {
    SPAN = 32768,         /* cycles, for which a stretch warms up, and for which it is timed */
    LEAST = 4096,         /* of short stretches */
    FIRST_PIECE = 4,      /* branches, after which time is looked at, and then: */
    PIECES = 8,           /* of a span, about */
    SPEED_UNIT = 16,      /* parts of cycles of a branch */
    INTERRUPTED = 500000, /* cycles of a piece, about: another thread ran */
    OWN = 2,              /* cycles that counting adds to a branch, about */
    STUB = 60,            /* and to one for which C is asked, besides what C takes */
    MOST = 2500000,       /* cycles, after which it is looked whether signals wait */
};
enum { WARMING, TIMING, LEADING }; /* parts of a stretch */

/* ---- writing ---- */

/* A jump that gets its target later. */
static uint8_t *put_jump(struct pgbr_writer *w)
{
    pgbr_put(w, 0xe9, 1);
    pgbr_put(w, 0, 4);
    return w->at - 4;
}

static void lead(uint8_t *jump, u64 to)
{
    const u64 next = (u64)jump - PGBR_CODE_BYTES + 4;
    *(u32 *)(void *)jump = (u32)(to - next);
}

/* A jump over at most 127 bytes, on zero rcx (0xe3), on zero (0x74) or on other than zero. */
static uint8_t *put_skip(struct pgbr_writer *w, uint8_t opcode)
{
    pgbr_put(w, opcode, 1);
    pgbr_put(w, 0, 1);
    return w->at - 1;
}

static void to_here(const struct pgbr_writer *w, uint8_t *skip)
{
    *skip = (uint8_t)(w->at - (skip + 1));
}

static void put_keep(struct pgbr_writer *w, u32 reg)
{
    pgbr_put_beside(w, PGBR_STORE, reg, &w->x->regs[reg]);
}

static void put_take_back(struct pgbr_writer *w, u32 reg)
{
    pgbr_put_beside(w, PGBR_LOAD, reg, &w->x->regs[reg]);
}

/* Faults as the call would, which writes there, and changes nothing. */
static void put_touch(struct pgbr_writer *w)
{
    pgbr_put(w, 0xf8244c8b48, 5); /* mov -8(%rsp), %rcx */
    pgbr_put(w, 0xf8244c8948, 5); /* mov %rcx, -8(%rsp) */
}

static void put_push(struct pgbr_writer *w, const struct pgbr_block *b, u32 reg)
{
    pgbr_put(w, 0xb848 | (u64)reg << 8, 2); /* movabs */
    pgbr_put(w, b->next, 8);
    pgbr_put(w, 0xf824448948 | (u64)reg << 19, 5); /* mov %reg, -8(%rsp) */
    pgbr_put(w, 0xf824648d48, 5);                  /* lea -8(%rsp), %rsp */
}

/* A branch that is always taken, or was. A call is C's until its target is known, as it has an
 * effect. */
static void put_direct(struct pgbr_writer *w, struct pgbr_block *b)
{
    const bool calls = b->branch.kind == PGBR_CALL;
    if (calls)
        b->gate = put_jump(w);
    put_keep(w, PGBR_RCX);
    if (calls)
        put_touch(w);
    pgbr_put_beside(w, PGBR_LOAD, PGBR_RCX, &w->x->left);
    pgbr_put(w, 0xff498d48, 4); /* lea -1(%rcx), %rcx */
    pgbr_put_beside(w, PGBR_STORE, PGBR_RCX, &w->x->left);
    uint8_t *last = put_skip(w, 0xe3);
    if (calls)
        put_push(w, b, PGBR_RCX);
    put_take_back(w, PGBR_RCX);
    b->link[true] = put_jump(w);
    to_here(w, last);
    put_take_back(w, PGBR_RCX);
}

/* Reads the target into rcx, which the operand may name. */
static void put_target(struct pgbr_writer *w, const struct pgbr_block *b)
{
    const struct pgbr_insn *i = &b->branch;
    if (i->kind == PGBR_RETURN) {
        pgbr_put(w, 0x240c8b48, 4); /* mov (%rsp), %rcx */
    } else if (i->reg != PGBR_NONE) {
        pgbr_put(w, 0x48 | (i->reg >> 3) << 2, 1);
        pgbr_put(w, 0xc189 | (u64)(i->reg & 7) << 11, 2); /* mov %reg, %rcx */
    } else if (i->beside) {
        pgbr_put(w, 0xb948, 2); /* movabs */
        pgbr_put(w, b->next + (u64)i->disp, 8);
        pgbr_put(w, 0x098b48, 3); /* mov (%rcx), %rcx */
    } else {
        pgbr_put_with_operand(w, PGBR_LOAD, i, PGBR_RCX);
    }
}

static void put_flags_back(struct pgbr_writer *w)
{
    pgbr_put(w, 0x9e7f04, 3); /* add $127, %al; sahf */
    put_take_back(w, PGBR_RAX);
    put_take_back(w, PGBR_RCX);
    put_take_back(w, PGBR_RDX);
}

/* Looks up where the copy of the target is. Flags are in rax meanwhile. */
static void put_indirect(struct pgbr_writer *w, const struct pgbr_block *b)
{
    const bool calls = b->branch.kind == PGBR_CALL_TO;
    put_keep(w, PGBR_RCX);
    if (calls) {
        put_touch(w);
        put_take_back(w, PGBR_RCX);
    }
    put_target(w, b);
    put_keep(w, PGBR_RAX);
    put_keep(w, PGBR_RDX);
    pgbr_put(w, 0xc0900f9f, 4); /* lahf; seto %al */
    pgbr_put(w, 0xca8948, 3);   /* mov %rcx, %rdx; as pgbr_targets_of */
    pgbr_put(w, 0x04eac148, 4); /* shr $4, %rdx */
    pgbr_put(w, 0xca3148, 3);   /* xor %rcx, %rdx */
    pgbr_put(w, 0xe281, 2);
    pgbr_put(w, PGBR_TARGETS - 1, 4);                      /* and $.., %edx */
    pgbr_put(w, 0x05e2c148, 4);                            /* shl $5, %rdx */
    pgbr_put_beside(w, 0x03, PGBR_RDX, &w->x->targets_at); /* add */
    pgbr_put(w, 0x0a3b48, 3);                              /* cmp (%rdx), %rcx */
    uint8_t *first = put_skip(w, 0x74);
    pgbr_put(w, 0x10c28348, 4); /* add $16, %rdx */
    pgbr_put(w, 0x0a3b48, 3);   /* cmp (%rdx), %rcx */
    uint8_t *unknown = put_skip(w, 0x75);
    to_here(w, first);
    pgbr_put(w, 0x08528b48, 4); /* mov 8(%rdx), %rdx */
    pgbr_put_beside(w, PGBR_STORE, PGBR_RDX, &w->x->jump_to);
    pgbr_put_beside(w, 0xff, 1, &w->x->left); /* dec */
    uint8_t *last = put_skip(w, 0x74);
    if (calls)
        put_push(w, b, PGBR_RDX);
    put_flags_back(w);
    if (b->branch.kind == PGBR_RETURN) {
        pgbr_put(w, 0x24a48d48, 4); /* lea ..(%rsp), %rsp */
        pgbr_put(w, sizeof(u64) + (u64)b->branch.target, 4);
    }
    pgbr_put(w, 0x25ff, 2); /* jmp *..(%rip) */
    pgbr_put(w, (u64)&w->x->jump_to - (w->runs_at + 4), 4);
    to_here(w, unknown);
    to_here(w, last);
    put_flags_back(w);
}

/* A branch whose target is not known goes on after it, where C looks the target up. */
void pgbr_put_counting(struct pgbr_writer *w, struct pgbr_block *b)
{
    uint8_t *condition;
    b->gate = b->link[false] = b->link[true] = NULL;
    switch (b->branch.kind) {
    case PGBR_COPY:
        b->link[false] = put_jump(w);
        break;
    case PGBR_COND:
        pgbr_put(w, 0x800f | (u64)b->branch.code << 8, 2);
        pgbr_put(w, 0, 4);
        condition = w->at - 4;
        b->link[false] = put_jump(w);
        lead(condition, w->runs_at);
        put_direct(w, b);
        break;
    case PGBR_JUMP:
    case PGBR_CALL:
        put_direct(w, b);
        break;
    case PGBR_JUMP_TO:
    case PGBR_CALL_TO:
    case PGBR_RETURN:
        put_indirect(w, b);
        break;
    default:
        break;
    }
    uint8_t *const jumps[] = {b->gate, b->link[false], b->link[true]};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
        if (jumps[i])
            lead(jumps[i], w->runs_at);
}

/* ---- running ---- */

void pgbr_begin_stretch(struct pgbr_engine *x, u64 others, u32 cut)
{
    const u64 span = SPAN >> cut;
    x->part = WARMING;
    x->span = span > LEAST ? span : LEAST;
    x->others = others;
    x->time = x->counted = x->speed = 0;
    x->paused = x->paused_before = x->ran = 0;
    x->piece = x->left = FIRST_PIECE;
    x->from = __builtin_ia32_rdtsc();
}

static void begin_piece(struct pgbr_engine *x, u64 branches, u64 now)
{
    x->piece = x->left = branches;
    x->paused_before += x->paused;
    x->paused = 0;
    x->from = now;
}

/* How long the piece would have taken in the program: at least a cycle for each branch. Where
 * another thread has run meanwhile, as long as the one before. */
static u64 time_of_piece(const struct pgbr_engine *x, u64 now)
{
    const u64 all = now - x->from, own = x->paused + OWN * x->piece,
              took = all > own + x->piece ? all - own : x->piece;
    return took > INTERRUPTED && x->speed ? x->speed * x->piece / SPEED_UNIT : took;
}

/* A part of a span of time. The speed may change, so that the next one is not much longer. */
static u64 next_piece(const struct pgbr_engine *x)
{
    const u64 branches = x->span / PIECES * SPEED_UNIT / x->speed, most = 8 * x->piece;
    return !branches ? 1 : branches < most ? branches : most;
}

/* Ends when signals wait, for which no stretch is long enough. */
static void begin_others(struct pgbr_engine *x, u64 now)
{
    const u64 most = (u64)MOST * SPEED_UNIT / x->speed,
              branches = x->others < most ? x->others : most;
    if (!branches)
        pgbr_leave(x, PGK_BRANCH_FULL);
    if (x->part++ > LEADING && pgg_call_signals_wait(pgbr_mask_of(x->thread)))
        pgbr_leave(x, PGK_BRANCH_SIGNAL);
    x->others -= branches;
    begin_piece(x, branches, now);
}

/* A span has this many branches, in parts of UNIT: of the last piece, those in it. */
static void span_ends(struct pgbr_engine *x, u64 took)
{
    const u64 beyond = x->time - x->span;
    x->in_span = x->counted * PGBR_SPAN_UNIT - x->piece * PGBR_SPAN_UNIT * beyond / took;
}

static void next_part(struct pgbr_engine *x, u64 now)
{
    x->ran += x->piece;
    if (x->part >= LEADING) {
        begin_others(x, now);
        return;
    }
    const u64 took = time_of_piece(x, now);
    x->time += took;
    x->counted += x->piece;
    x->speed = took * SPEED_UNIT / x->piece;
    if (x->time < x->span) {
        begin_piece(x, next_piece(x), now);
        return;
    }
    if (x->part == TIMING)
        span_ends(x, took);
    x->time = x->counted = 0;
    if (++x->part == LEADING)
        begin_others(x, now);
    else
        begin_piece(x, next_piece(x), now);
}

u64 pgbr_native_cycles(const struct pgbr_engine *x, u64 branches)
{
    return x->in_span ? branches * x->span * PGBR_SPAN_UNIT / x->in_span : 0;
}

u64 pgbr_added_cycles(const struct pgbr_engine *x)
{
    return x->paused_before + x->paused + OWN * x->ran;
}

/* Rounded up or down at random, so that short ones are right in the mean; 0: none. */
u64 pgbr_length_after(const struct pgbr_engine *x, u64 branches, u64 random)
{
    const u64 cycles = branches * PGBR_CYCLES_OF_A_BRANCH, unit = x->span * PGBR_SPAN_UNIT,
              length = (cycles * x->in_span + random % unit) / unit;
    return length < PGBR_WINDOW_MAX ? length : PGBR_WINDOW_MAX;
}

/* Code that may be written is looked at each time. */
static bool may_change(u64 pc)
{
    const struct pgbr_module *m = pgbr_module_of(pc);
    return !m || m->may_change;
}

static void know_target(struct pgbr_engine *x, struct pgbr_block *b, bool taken, u64 code)
{
    const u64 target = x->at;
    if (may_change(b->pc) || may_change(target))
        return;
    if (b->branch.kind >= PGBR_JUMP_TO) {
        struct pgbr_target *known = pgbr_targets_of(x, target);
        if (known[0].pc != target)
            known[1] = known[0];
        known[0] = (struct pgbr_target){target, code};
    } else if (b->link[taken]) {
        lead(b->link[taken], code);
        if (b->gate)
            lead(b->gate, (u64)b->gate - PGBR_CODE_BYTES + 4);
        pgg_serialize();
    }
}

/* A copy has counted its branch already if it knew what to do but the target, or if it was the last
 * one. */
u64 pgbr_count_on(struct pgbr_engine *x, struct pgbr_block *b)
{
    const u64 began = __builtin_ia32_rdtsc(), generation = x->generation;
    const uint8_t kind = b->branch.kind;
    bool taken = false;
    x->at = b->last;
    if (kind >= PGBR_SYSTEM) {
        pgbr_make_call(x, b);
        x->at = b->next;
    } else {
        x->at = pgbr_target_of(x, b, &taken);
        if (taken && x->left && kind != PGBR_COND && kind != PGBR_JUMP)
            x->left--;
        if (!x->left)
            next_part(x, began);
    }
    const u64 code = pgbr_go_on(x);
    if (x->generation == generation) /* or else the block is no more */
        know_target(x, b, taken, code);
    x->paused += __builtin_ia32_rdtsc() - began + STUB;
    return code;
}
