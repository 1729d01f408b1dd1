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
    WARM = 262144, /* cycles, in which copies and their data come into caches; then: */
    SPAN = 8192,   /* cycles, whose branches are counted */
    UNITS = SPAN * PGBR_SPAN_UNIT,
    FIRST_PIECE = 4,      /* branches, after which time is looked at, and then: */
    PIECES = 4,           /* of a span, about */
    AVERAGED = 32,        /* spans */
    PLACES = 4096,        /* whose spans are distinguished, */
    PLACE_BYTES = 256,    /* of so much code */
    FEW = 16,             /* branches to one of which C is asked for what it does not know */
    SPEED_UNIT = 16,      /* parts of cycles of a branch */
    INTERRUPTED = 500000, /* cycles of a piece, about: another thread ran */
    OWN = 2,              /* cycles that counting adds to a branch, about, */
    OWN_INDIRECT = 6,     /* and looking up to an indirect one that is foreseen */
    BRANCH = 10,          /* that a branch takes in the program, about, where it is not timed */
    STUB = 60,            /* that going to C and back takes, about, if all was known */
    ASK_FIRST = 300,      /* that asking C takes, besides C itself, as long as it is not known */
    ASK_STEP = 8,
    MOST = 2500000, /* cycles, after which it is looked whether signals wait */
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

static bool leads(const uint8_t *jump, u64 to)
{
    const u64 next = (u64)jump - PGBR_CODE_BYTES + 4;
    return *(const u32 *)(const void *)jump == (u32)(to - next);
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
    pgbr_put_beside(w, 0xff, 0, &w->x->indirect); /* inc */
    pgbr_put_beside(w, 0xff, 1, &w->x->left);     /* dec */
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

/* Mean of spans that began at a place of the program, and of all: branches in so much of its time.
 * Two places may share one. */
static struct place {
    u32 in_span, n;
} places[PLACES], everywhere = {UNITS / PGBR_CYCLES_OF_A_BRANCH, 0};

static struct place *place_of(u64 pc)
{
    return &places[(pc / PLACE_BYTES ^ pc / PLACE_BYTES / PLACES) % PLACES];
}

static void add_span(struct place *p, u64 in_span)
{
    const u32 n = __atomic_load_n(&p->n, __ATOMIC_RELAXED), more = n < AVERAGED ? n + 1 : n;
    const i64 mean = n ? __atomic_load_n(&p->in_span, __ATOMIC_RELAXED) : 0;
    __atomic_store_n(&p->in_span, (u32)(mean + ((i64)in_span - mean) / (i64)more),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&p->n, more, __ATOMIC_RELAXED);
}

static u64 in_span_at(u64 pc)
{
    const struct place *p = place_of(pc);
    return __atomic_load_n(p->n ? &p->in_span : &everywhere.in_span, __ATOMIC_RELAXED);
}

void pgbr_begin_stretch(struct pgbr_engine *x, u64 pc, u64 others, bool timed)
{
    x->part = timed ? WARMING : LEADING;
    x->timed = timed;
    x->news = 0;
    x->in_span = in_span_at(pc);
    x->speed = x->in_span ? SPEED_UNIT * UNITS / x->in_span : SPEED_UNIT;
    x->others = timed ? others : 0;
    x->piece = x->left = timed ? FIRST_PIECE : others + 1;
    x->time = x->counted = 0;
    x->paused = x->paused_before = x->ran = 0;
    x->indirect = x->indirect_before = 0;
    x->asked_left = UINT64_MAX; /* the first one is not timed */
    x->ask = x->ask ? x->ask : ASK_FIRST;
    x->from = __builtin_ia32_rdtsc();
}

static void begin_piece(struct pgbr_engine *x, u64 branches, u64 now)
{
    x->piece = x->left = branches;
    x->paused_before += x->paused;
    x->indirect_before += x->indirect;
    x->paused = x->indirect = 0;
    x->from = now;
}

/* How long the piece would have taken in the program: at least a cycle for each branch. Where
 * another thread has run meanwhile, as long as the one before. */
static u64 time_of_piece(const struct pgbr_engine *x, u64 now)
{
    const u64 all = now - x->from, own = x->paused + OWN * x->piece + OWN_INDIRECT * x->indirect,
              took = all > own + x->piece ? all - own : x->piece;
    return took > INTERRUPTED && x->speed ? x->speed * x->piece / SPEED_UNIT : took;
}

/* A part of a span of time. The speed may change, so that the next one is not much longer. */
static u64 next_piece(const struct pgbr_engine *x)
{
    const u64 branches = SPAN / PIECES * SPEED_UNIT / x->speed, most = 8 * x->piece;
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

/* Of the last piece, branches that are still in the span. */
static void span_ends(struct pgbr_engine *x, u64 took)
{
    const u64 beyond = x->time - SPAN,
              in_span = x->counted * PGBR_SPAN_UNIT - x->piece * PGBR_SPAN_UNIT * beyond / took;
    add_span(place_of(x->span_pc), in_span);
    add_span(&everywhere, in_span);
    x->in_span = in_span_at(x->span_pc);
}

/* A short stretch shows the speed, as long as no span has, if most of what it met was known. */
static void learn_from_short(struct pgbr_engine *x, u64 now)
{
    if (x->timed || x->ran || everywhere.n || x->news * FEW >= x->piece)
        return;
    const u64 in_span = UNITS * x->piece / time_of_piece(x, now);
    __atomic_store_n(&everywhere.in_span, (u32)in_span, __ATOMIC_RELAXED);
    x->in_span = in_span;
}

static void next_part(struct pgbr_engine *x, u64 now)
{
    if (x->part >= LEADING)
        learn_from_short(x, now);
    x->ran += x->piece;
    if (x->part >= LEADING) {
        begin_others(x, now);
        return;
    }
    const u64 took = time_of_piece(x, now);
    x->time += took;
    x->counted += x->piece;
    x->speed = took * SPEED_UNIT / x->piece;
    if (x->time < (x->part == WARMING ? WARM : SPAN)) {
        begin_piece(x, next_piece(x), now);
        return;
    }
    if (x->part == TIMING)
        span_ends(x, took);
    x->time = x->counted = 0;
    x->span_pc = x->at;
    if (++x->part == LEADING)
        begin_others(x, now);
    else
        begin_piece(x, next_piece(x), now);
}

u64 pgbr_native_cycles(const struct pgbr_engine *x, u64 branches)
{
    return x->in_span ? branches * UNITS / x->in_span : 0;
}

u64 pgbr_added_cycles(const struct pgbr_engine *x)
{
    return x->paused_before + x->paused + OWN * x->ran +
           OWN_INDIRECT * (x->indirect_before + x->indirect);
}

/* Rounded up or down at random, so that short ones are right in the mean; 0: none. */
u64 pgbr_length_after(const struct pgbr_engine *x, u64 branches, u64 random)
{
    const u64 cycles = branches * PGBR_CYCLES_OF_A_BRANCH,
              length = (cycles * x->in_span + random % UNITS) / UNITS;
    return length < PGBR_WINDOW_MAX ? length : PGBR_WINDOW_MAX;
}

/* Code that may be written is looked at each time. */
static bool may_change(u64 pc)
{
    const struct pgbr_module *m = pgbr_module_of(pc);
    return !m || m->may_change;
}

/* False: the copy knows it already, and C was asked only as a piece ended. */
static bool know_target(struct pgbr_engine *x, struct pgbr_block *b, bool taken, u64 code)
{
    const u64 target = x->at;
    if (may_change(b->pc) || may_change(target))
        return true;
    if (b->branch.kind >= PGBR_JUMP_TO) {
        struct pgbr_target *known = pgbr_targets_of(x, target);
        if (known[0].pc == target && known[0].code == code)
            return false;
        if (known[0].pc != target)
            known[1] = known[0];
        known[0] = (struct pgbr_target){target, code};
    } else if (b->link[taken]) {
        if (leads(b->link[taken], code))
            return false;
        lead(b->link[taken], code);
        if (b->gate)
            lead(b->gate, (u64)b->gate - PGBR_CODE_BYTES + 4);
        pgg_serialize();
    }
    return true;
}

/* What it takes to come here and to go back, with code that was just changed and data that are no
 * longer near. It is the median of times between two questions with no branch between them. */
static void time_question(struct pgbr_engine *x, u64 now)
{
    const u64 passed = now - x->asked_at, branches = x->asked_left - x->left;
    if (x->asked_new && branches <= 1 && passed < INTERRUPTED)
        x->ask += passed > x->ask + BRANCH ? ASK_STEP : x->ask > ASK_STEP ? -(u64)ASK_STEP : 0;
}

/* A copy has counted its branch already if it knew what to do but the target, or if it was the last
 * one. */
u64 pgbr_count_on(struct pgbr_engine *x, struct pgbr_block *b)
{
    const u64 began = __builtin_ia32_rdtsc(), generation = x->generation;
    const uint8_t kind = b->branch.kind;
    bool taken = false;
    time_question(x, began);
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
    x->asked_new = x->generation != generation || /* or else the block is no more */
                   know_target(x, b, taken, code);
    x->news += x->asked_new;
    x->asked_left = x->left;
    x->asked_at = __builtin_ia32_rdtsc();
    x->paused += x->asked_at - began + (x->asked_new ? x->ask : STUB);
    return code;
}
