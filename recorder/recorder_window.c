/* A window: the tick that begins it, and its end, at which it is counted. */
#include "guest_bytes.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "guest_walk.h"
#include "recorder_counting.h"
#include "recorder_modules.h"
#include "recorder_options.h"
#include "recorder_signals.h"
#include "recorder_table.h"
#include "recorder_take.h"
#include "recorder_thread.h"
#include "recorder_weight.h"

enum {
    STEP_FLAG = 0x100,
    INSNS_OF_A_BRANCH = 40,     /* beyond which a window is not worth its time */
    INSNS_AFTER_STRETCH = 1000, /* where it would be a bias to end it */
    TIMED_CUT = PGBR_CUT_MOST / 2, /* up to which stretches are long enough to be timed, */
    TIMED_EACH = 8,                /* as one of so many is */
};
#define CONTEXT_BYTES (offsetof(ucontext_t, uc_sigmask) + sizeof(u64))
_Static_assert(CONTEXT_BYTES <= PGBR_CONTEXT_BYTES, "the thread has space for it");

/* The kernel's description of the vector registers that it saves for a handler, after the first 464
 * bytes of them; and the mark that they are complete. */
enum { STATE_SAYS = 464, STATE_MAGIC = 0x46505853, STATE_END = 0x46505845 };
struct state {
    u32 magic, all_bytes;
    u64 parts;
    u32 bytes;
};

static u64 *mask_of(void *context)
{
    return (u64 *)(void *)&((ucontext_t *)context)->uc_sigmask;
}

u64 pgbr_mask_of(struct pgbr_thread *t)
{
    return *mask_of(t->context);
}

/* Space for the vector registers at the end of the window, in the kernel's form. */
static bool prepare_state(struct pgbr_thread *t, const ucontext_t *context)
{
    const char *from = (const char *)context->uc_mcontext.fpregs;
    const struct state *s = (const struct state *)(const void *)(from + STATE_SAYS);
    if (!from || s->magic != STATE_MAGIC || s->bytes + sizeof(u32) > sizeof t->state)
        return false;
    pgg_copy(t->state + STATE_SAYS, from + STATE_SAYS, 512 - STATE_SAYS);
    pgg_zero(t->state + 512, 64);
    *(u32 *)(void *)(t->state + s->bytes) = STATE_END;
    t->state_parts = s->parts;
    return true;
}

/* Also while the kernel has yet to read that of an engine, after a fault in what ran on it. */
static bool is_on_other_stack(const ucontext_t *context)
{
    const u64 sp = (u64)context->uc_mcontext.gregs[REG_RSP];
    if (pgbr_engine_of_stack(sp))
        return true;
    return context->uc_stack.ss_size &&
           sp - (u64)context->uc_stack.ss_sp <= context->uc_stack.ss_size;
}

/* In the kernel when the tick came; those are no places of the program. */
static bool is_behind_call(u64 pc)
{
    return pc % PGG_PAGE >= 2 && ((const uint8_t *)pc)[-2] == 0x0f &&
           ((const uint8_t *)pc)[-1] == 0x05;
}

/* Returns why no window can begin here, or PGK_BRANCH_COUNTERS if one can. */
static enum pgk_branch_counter why_not(struct pgbr_thread *t, const ucontext_t *context)
{
    const greg_t *regs = context->uc_mcontext.gregs;
    const u64 pc = (u64)regs[REG_RIP];
    if (regs[REG_EFL] & STEP_FLAG)
        return PGK_BRANCH_STEPPING;
    if (pgbr_is_own(pc))
        return PGK_BRANCH_IN_RECORDER;
    if (t->restartable && *t->restartable)
        return PGK_BRANCH_RESTARTABLE;
    if (pgg_shadow_stack())
        return PGK_BRANCH_SHADOW_STACK;
    if (is_on_other_stack(context))
        return PGK_BRANCH_OTHER_STACK;
    pgg_lock(&pgbr_lock);
    pgbr_modules_learn(pc);
    const struct pgbr_module *m = pgbr_module_of(pc);
    pgg_unlock(&pgbr_lock);
    switch (m ? m->code : PGBR_CODE_UNKNOWN) {
    case PGBR_CODE_UNKNOWN:
        return PGK_BRANCH_OTHER_CODE;
    case PGBR_CODE_RESTARTABLE:
        return PGK_BRANCH_RESTARTABLE;
    case PGBR_CODE_KNOWN:
        break;
    }
    if (is_behind_call(pc))
        return PGK_BRANCH_AFTER_CALL;
    if (!pgbr_signals_known())
        return PGK_BRANCH_HANDLERS;
    return prepare_state(t, context) ? PGK_BRANCH_COUNTERS : PGK_BRANCH_NO_STATE;
}

static void begin(struct pgbr_engine *x, struct pgbr_thread *t, ucontext_t *context, u64 now_ns,
                  u64 length)
{
    const u64 pc = (u64)context->uc_mcontext.gregs[REG_RIP];
    pgg_copy(t->context, context, CONTEXT_BYTES);
    t->engine = NULL;
    x->thread = t;
    x->restartable = t->restartable;
    x->late = x->ending = 0;
    x->n = x->loads_n = x->steps = x->unknown_pc = 0;
    x->limit = length;
    x->began_pc = 0;
    x->steps_max = x->limit * (pgbr_options.stretch ? INSNS_AFTER_STRETCH : INSNS_OF_A_BRANCH);
    x->began_ns = now_ns;
    x->chain_n = pgbr_options.callchain
                     ? pgg_walk_context(context, x->chain, PGBR_CALLERS_MAX)
                     : 0;
    x->at = x->ticked_pc = pc;
    *mask_of(context) |= ~pgbr_fault_signals;
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)pgbr_code_at(x, pc);
}

/* Copies lead to each other, and the program's code is not looked at in between. So they are made
 * anew when a library was closed, or code was made writable. */
static void prepare_stretch(struct pgbr_engine *x, struct pgbr_thread *t, u64 pc)
{
    pgg_lock(&pgbr_lock);
    const u32 changes = pgbr_modules_changes();
    if (changes != x->changes)
        pgbr_prepare_code(x);
    x->changes = changes;
    pgg_unlock(&pgbr_lock);
    const bool timed = t->cut <= TIMED_CUT && !(pgbr_random(t) % TIMED_EACH);
    pgbr_begin_stretch(x, pc, pgbr_random(t) % (2 * pgbr_options.stretch) >> t->cut, timed);
}

/* A thread whose stretches end early has shorter ones, and in the end every other window at once. A
 * new one, which may not live long, begins with short ones. */
static bool begins_with_stretch(struct pgbr_thread *t)
{
    if (!pgbr_options.stretch)
        return false;
    if (t->cut <= PGBR_CUT_MOST)
        return true;
    t->cut--;
    return false;
}

static bool is_cost_of_interest(void)
{
    return pgbr_accesses.take || pgbr_options.budget;
}

static void tick_done(struct pgbr_thread *t, u64 began_ns)
{
    const u64 elapsed = pgbr_thread_ns() - began_ns;
    pgbr_count_n(PGK_BRANCH_COST_NS, elapsed);
    if (is_cost_of_interest())
        pgbr_tick_done(t, elapsed);
}

void pgbr_on_tick(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    struct pgbr_thread *t = info->si_value.sival_ptr;
    if (!pgbr_is_on())
        return;
    const u64 now_ns = pgbr_thread_ns();
    t->native_ns = 0;
    if (pgbr_accesses.take)
        pgbr_ticked(t);
    enum pgk_branch_counter why = why_not(t, context);
    struct pgbr_engine *x = NULL;
    pgbr_count(PGK_BRANCH_TICKS);
    if (why == PGK_BRANCH_COUNTERS) {
        const bool counts = begins_with_stretch(t);
        if (t->engine && t->engine->counts != counts) {
            pgbr_engine_free(t->engine);
            t->engine = NULL;
        }
        x = t->engine;
        x = x ? x : pgbr_engine_take(counts);
        why = PGK_BRANCH_NO_ENGINE;
    }
    if (x) {
        if (x->counts)
            prepare_stretch(x, t, pgg_context_pc(context));
        begin(x, t, context, now_ns, pgbr_options.branches);
        if (pgbr_accesses.take && !x->counts)
            pgbr_weigh(x, t, NULL);
        return;
    }
    pgbr_count(why);
    tick_done(t, now_ns);
    pgbr_arm(t);
}

/* ---- the end ---- */

static const int of_context[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15};

static void fill_context(const struct pgbr_engine *x, struct pgbr_thread *t)
{
    ucontext_t *context = (ucontext_t *)(void *)t->context;
    greg_t *regs = context->uc_mcontext.gregs;
    for (int i = 0; i < 16; i++)
        regs[of_context[i]] = (greg_t)x->regs[i];
    regs[REG_EFL] = (greg_t)x->flags;
    regs[REG_RIP] = (greg_t)x->at;
    context->uc_mcontext.fpregs = (fpregset_t)(void *)t->state;
}

static void resume(struct pgbr_engine *x, struct pgbr_thread *t, enum pgk_branch_counter why)
    __attribute__((noreturn));
static void resume(struct pgbr_engine *x, struct pgbr_thread *t, enum pgk_branch_counter why)
{
    pgbr_count(why);
    tick_done(t, x->began_ns);
    pgbr_arm(t);
    if (x->late)
        pgg_sys_signal_queue((int)x->late, &x->late_info);
    pgbr_stub_resume(t->context, &x->busy);
}

/* PGK_BRANCH_COUNTERS: one can begin, where the last branch leads. */
static enum pgk_branch_counter why_no_window(struct pgbr_engine *x, enum pgk_branch_counter why)
{
    return why != PGK_BRANCH_FULL ? why : x->late ? PGK_BRANCH_SIGNAL : pgbr_why_not_on(x);
}

/* A window follows, which begins as at a tick. */
static void stretch_ends(struct pgbr_engine *x, enum pgk_branch_counter why)
    __attribute__((noreturn));
static void stretch_ends(struct pgbr_engine *x, enum pgk_branch_counter why)
{
    struct pgbr_thread *t = x->thread;
    const bool whole = why == PGK_BRANCH_FULL;
    why = why_no_window(x, why);
    if (whole)
        t->cut -= t->cut > 0;
    else
        t->cut += t->cut <= PGBR_CUT_MOST;
    if (x->unknown_pc) {
        pgg_lock(&pgbr_lock);
        pgbr_modules_learn(x->unknown_pc);
        pgg_unlock(&pgbr_lock);
    }
    fill_context(x, t);
    if (is_cost_of_interest())
        pgbr_stretched(x, pgbr_thread_ns() - x->began_ns);
    if (why != PGK_BRANCH_COUNTERS)
        resume(x, t, why);
    const u64 length = pgbr_length_after(x, pgbr_options.branches, pgbr_random(t));
    if (!length) {
        t->owed_ns = 0;
        resume(x, t, PGK_BRANCH_LENGTH);
    }
    struct pgbr_engine *next = pgbr_engine_take(false);
    if (!next)
        resume(x, t, PGK_BRANCH_NO_ENGINE);
    pgg_copy(t->again, t->context, CONTEXT_BYTES);
    begin(next, t, (ucontext_t *)(void *)t->again, x->began_ns, length);
    if (pgbr_accesses.take)
        pgbr_weigh(next, t, x);
    next->began_pc = x->at;
    next->ticked_pc = x->ticked_pc;
    pgbr_stub_resume(t->again, &x->busy);
}

/* All of the thread's registers are kept by now, so that anything may be called. */
void pgbr_window_ends(struct pgbr_engine *x, enum pgk_branch_counter why)
{
    struct pgbr_thread *t = x->thread;
    pgg_sys_signals_block(pgbr_fault_signals);
    if (x->counts)
        stretch_ends(x, why);
    if (pgbr_accesses.take)
        pgbr_weighed_window_ends(x);
    pgg_lock(&pgbr_lock);
    if (!pgbr_accesses.take && pgbr_table_open())
        pgbr_count_window(x);
    if (x->unknown_pc)
        pgbr_modules_learn(x->unknown_pc);
    pgg_unlock(&pgbr_lock);
    pgbr_count_n(PGK_BRANCH_INSTRUCTIONS, x->steps);
    fill_context(x, t);
    resume(x, t, why);
}
