/* An engine runs a thread of the program for a while and notes each branch that is taken. It has
 * copies of straight-line code that run natively (translate), and is asked at the end of each where
 * the program would go on (dispatch). A thread takes a free engine for a window, so that there are
 * only as many as threads are in windows at a time.
 *
 * While a window runs, signals wait, but for those that faults send. Neither the engine's code nor
 * its stack is the thread's, so what the thread has below its stack pointer stays as it is. */
#ifndef PGBR_ENGINE_H
#define PGBR_ENGINE_H

#include "pgbr.h"
#include "recorder_decode.h"

#include <signal.h>
#include <ucontext.h>

#pragma GCC visibility push(hidden)

enum {
    PGBR_BLOCK_INSNS = 16, /* instructions of a block at most, without the branch at its end */
    PGBR_BLOCK_BYTES = 120,
    PGBR_WINDOW_MAX = 16384, /* branches */
    PGBR_CALLERS_MAX = 255,  /* calls of a context */
    PGBR_RETURNED = 1,
    PGBR_LOADS_MAX = 8192, /* of a window, that are of data of modules */
};

/* Straight-line code of the program, and the branch at its end. */
struct pgbr_block {
    u64 pc;   /* where it begins, and */
    u64 last; /* its last instruction, which is a branch but for PGBR_COPY */
    u64 next; /* what comes after it */
    u64 code; /* of the engine */
    struct pgbr_insn branch;
    uint8_t insns, bytes;
    struct {
        uint8_t from, to; /* bytes in the program, in the engine */
        uint8_t note;     /* of the latter, those that note an address */
        uint8_t accessed, does; /* bytes, enum pgbr_does; of accesses that are asked for */
    } length[PGBR_BLOCK_INSNS];
    u64 tail; /* of the engine: after the copies of instructions */
    /* Jumps of an engine that counts: to what follows, by whether the branch is taken; and over the
     * question to C. NULL: there is none. */
    uint8_t *link[2], *gate;
    uint8_t source[PGBR_BLOCK_BYTES]; /* as the program had it */
};

enum {
    PGBR_CODE_BYTES = 256 << 10,
    PGBR_BLOCKS = 1500,
    PGBR_SLOTS = 4096,
    PGBR_STACK = 64 << 10,
    PGBR_TARGETS = 2048, /* sets of */
    PGBR_WAYS = 2
};

/* What a window stands for. */
struct pgbr_weight {
    u64 owed_ns;       /* of the program's time */
    u64 native_cycles; /* that its branches take in the program */
    u64 each;          /* accesses for one that was seen, as the library gets it */
    bool pending;      /* the library has yet to get it */
};

struct pgbr_thread;
struct pgbr_branch {
    u64 from, to;
    u64 back; /* of a call: where it returns to; PGBR_RETURNED; or 0 */
};
enum pgbr_does { PGBR_READS = 1, PGBR_WRITES = 2 };
struct pgbr_load {
    u64 pc, addr;
    u64 branches; /* that were taken before it */
};

/* The stub knows the places of the first ones. */
struct pgbr_engine {
    u64 regs[16]; /* of the program, by their numbers in instructions */
    u64 flags, stack, target, leave_code;
    u64 held;         /* a register that stands in for the program counter */
    u32 busy, ending; /* `ending`: what runs on its stack is no branch of the program */
    u32 late;         /* a signal that came in the window, with its */
    siginfo_t late_info;
    struct pgbr_thread *thread;
    u64 at;                          /* where the program goes on if the window ends now */
    const volatile u64 *restartable; /* the thread's word of the kernel, or NULL */
    u64 steps, steps_max, limit, n;
    u64 loads_n;
    u64 addresses[PGBR_BLOCK_INSNS]; /* of the accesses of a block, by instruction */
    u64 string_si, string_di;        /* before a string instruction, which ends its block */
    u32 number;                      /* of those of its kind */
    struct pgbr_weight weight;
    u64 ticked_pc; /* where the tick came */
    u64 began_ns, began_pc;
    u64 chain[PGBR_CALLERS_MAX];  /* where the window began, and return addresses minus one */
    u32 chain_n;                  /* 0: contexts are not asked for */
    bool counts;                  /* its copies count branches and jump to each other */
    u32 part;                     /* of a stretch */
    u64 left, piece, ran, others; /* branches: of this piece, before it, of those to come */
    u64 indirect, indirect_before; /* those that were looked up in a copy */
    u64 from;                     /* cycles, when the piece began */
    u64 paused, paused_before;    /* and in C, in the piece and before it */
    u64 asked_at, asked_left, ask; /* when C was asked last, and cycles of asking it */
    bool timed, asked_new;        /* a span of the stretch is; for what it did not know */
    u64 news;                     /* how often, in a stretch */
    u64 time, counted;            /* cycles that were timed, of so many branches */
    u64 span_pc;                  /* where the span began */
    u64 speed, in_span;           /* parts of cycles for a branch; of branches in a span */
    u64 generation;               /* of blocks */
    u32 changes;                  /* of modules, when the stretch began */
    u64 jump_to, targets_at;
    struct pgbr_target {
        u64 pc, code;
    } targets[PGBR_TARGETS][PGBR_WAYS]; /* of indirect branches, by address; the last one first */
    u64 unknown_pc;                     /* code that no module known so far has */
    uint8_t *code, *code_at, *write;    /* `write`: where code_at is written */
    u32 blocks_n;
    uint16_t slots[PGBR_SLOTS]; /* by address: number of a block plus one */
    struct pgbr_block blocks[PGBR_BLOCKS];
    struct pgbr_branch branches[PGBR_WINDOW_MAX];
    struct pgbr_load loads[PGBR_LOADS_MAX];
    char space[PGBR_STACK] __attribute__((aligned(64)));
};

/* Functions begin at multiples of 16. */
PGG_INLINE struct pgbr_target *pgbr_targets_of(struct pgbr_engine *x, u64 pc)
{
    return x->targets[(pc >> 4 ^ pc) % PGBR_TARGETS];
}

struct pgbr_engine *pgbr_engine_take(bool counts); /* NULL: none is free */
void pgbr_engine_free(struct pgbr_engine *x);
void pgbr_engines_forked(void);
struct pgbr_engine *pgbr_engine_of_code(u64 pc);  /* whose code it is, or NULL */
struct pgbr_engine *pgbr_engine_of_stack(u64 sp); /* who runs on it, or NULL */

/* The copy of the code at this address of the program, made if need be. It ends at the first branch
 * or at what cannot be copied. */
u64 pgbr_code_at(struct pgbr_engine *x, u64 pc);
void pgbr_translate(struct pgbr_engine *x, struct pgbr_block *b);
void pgbr_prepare_code(struct pgbr_engine *x); /* an empty engine */
/* Undoes what a copy has changed so far: registers as the program would have them where it was
 * interrupted. Returns where that is. */
u64 pgbr_place_of(struct pgbr_engine *x, u64 code, greg_t *regs);

/* At the end of each block; where it goes on. */
u64 pgbr_dispatch(struct pgbr_engine *x, struct pgbr_block *b);
/* Ends the window; the thread goes on at x->at. */
void pgbr_leave(struct pgbr_engine *x, enum pgk_branch_counter why) __attribute__((noreturn));

/* recorder_stub.c */
extern const char pgbr_stub[];
void pgbr_stub_leave(struct pgbr_engine *x, enum pgk_branch_counter why, void *state, u64 parts)
    __attribute__((noreturn));
void pgbr_stub_resume(void *context, u32 *busy) __attribute__((noreturn));

/* recorder_count.c: adds what ran to the table. */
void pgbr_count_window(struct pgbr_engine *x);

/* recorder_window.c: in the end, with all of the thread's state kept. */
void pgbr_window_ends(struct pgbr_engine *x, enum pgk_branch_counter why) __attribute__((noreturn));

#pragma GCC visibility pop
#endif
