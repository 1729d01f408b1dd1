/* The walk up a stack, by the rules of the unwind tables, and over frame pointers where there are
 * none. It reads nothing outside the stack it began on: a wrong table or a broken frame pointer
 * ends it early.
 *
 * A walk is determined by the words that it read. A thread remembers those of its last walks, and
 * as long as all of them are the same at the same frame, the stack is the same: to see that takes
 * a few loads that do not wait for one another. */
#include "pgrt.h"

#include <sys/syscall.h>
#include <ucontext.h>

u32 pgrt_walk_epoch = 1;
static const struct pgrt_rule over_frame_pointers = {
    .cfa = PGRT_CFA_FRAME_POINTER,
    .bp = PGRT_BP_AT_BP,
};

/* Of the frame that is left next. */
struct place {
    u64 pc;          /* of code in it */
    uintptr_t sp;    /* as it sees it */
    uintptr_t bp_at; /* where its rbp is kept; 0: nobody knows */
    uintptr_t hi;    /* end of its stack */
    struct pgrt_walked *reads;
};

/* A stack that the program made itself: as far up as its pages are mapped, at most 256 KiB from
 * the frame. Frames in the upper half of what was cut off there have it looked at again. */
static PGRT_COLD uintptr_t see_stack(struct pgrt_thread *t, uintptr_t frame)
{
    struct pgrt_stack *s = t->seen;
    for (; s < t->seen + PGRT_STACKS; s++)
        if (frame - s->lo < s->good - s->lo)
            return s->hi;
    unsigned char in_core[64];
    uintptr_t lo = frame & ~(uintptr_t)(PGRT_PAGE - 1), hi = lo;
    for (size_t pages = sizeof in_core; pages && hi < lo + sizeof in_core * PGRT_PAGE;)
        if (pgrt_syscall(SYS_mincore, hi, pages * PGRT_PAGE, in_core, 0L, 0L, 0L) == 0)
            hi += pages * PGRT_PAGE;
        else
            pages /= 2;
    t->seen[t->seen_next++ % PGRT_STACKS] = (struct pgrt_stack){
        lo, hi, hi < lo + sizeof in_core * PGRT_PAGE ? hi : lo + (hi - lo) / 2};
    return hi;
}

/* Whether a word may be read there: above the stack pointer, inside the stack. */
PGRT_INLINE bool readable(const struct place *p, uintptr_t address)
{
    return address >= p->sp && address < p->hi - 7 && !(address & 7);
}

PGRT_INLINE uintptr_t word_at(struct place *p, uintptr_t address)
{
    uintptr_t word = *(const uintptr_t *)address;
    struct pgrt_walked *w = p->reads;
    if (w->n < PGRT_READS) {
        w->off[w->n] = (u32)(address - w->frame);
        w->word[w->n] = word;
    }
    w->n++;
    return word;
}

PGRT_INLINE uintptr_t bp(struct place *p)
{
    return p->bp_at ? word_at(p, p->bp_at) : 0;
}

/* A signal handler returns to the code that was interrupted, maybe on another stack. */
static PGRT_COLD bool leave_signal(const struct pgrt_thread *t, struct place *p)
{
    const ucontext_t *context = (const ucontext_t *)p->sp;
    uintptr_t end = p->sp + offsetof(ucontext_t, uc_mcontext) + sizeof context->uc_mcontext;
    if (end > p->hi || (p->sp & 7))
        return false;
    const greg_t *regs = context->uc_mcontext.gregs;
    uintptr_t old_hi = p->hi, old_sp = p->sp;
    p->pc = (u64)regs[REG_RIP];
    p->sp = (uintptr_t)regs[REG_RSP];
    p->bp_at = (uintptr_t)&regs[REG_RBP];
    p->reads->n = PGRT_READS + 1; /* not worth remembering */
    if (p->sp > old_sp && p->sp < old_hi)
        return true;
    /* Back from the stack for signals: at most once, as that one is no thread's. */
    p->hi = t->stack_hi;
    return old_hi != t->stack_hi && p->sp - t->stack_lo < t->stack_hi - t->stack_lo;
}

/* Leaves the frame; false at the end of the stack. */
PGRT_INLINE bool leave(const struct pgrt_thread *t, struct place *p, struct pgrt_rule rule)
{
    const uintptr_t off = (uintptr_t)(intptr_t)rule.cfa_off;
    uintptr_t cfa, kept;
    switch ((enum pgrt_cfa)rule.cfa) {
    case PGRT_CFA_SP: cfa = p->sp + off; break;
    case PGRT_CFA_BP: cfa = bp(p) + off; break;
    case PGRT_CFA_AT_SP:
    case PGRT_CFA_AT_BP:
        cfa = (rule.cfa == PGRT_CFA_AT_SP ? p->sp : bp(p)) + off;
        if (!readable(p, cfa))
            return false;
        cfa = word_at(p, cfa) + rule.plus;
        break;
    case PGRT_CFA_SIGNAL: return leave_signal(t, p);
    case PGRT_CFA_FRAME_POINTER: cfa = bp(p) + 16; break;
    default: return false;
    }
    if (!readable(p, cfa - 8))
        return false;
    switch ((enum pgrt_bp)rule.bp) {
    case PGRT_BP_SAME: break;
    case PGRT_BP_AT_CFA:
    case PGRT_BP_AT_BP:
        kept = (rule.bp == PGRT_BP_AT_CFA ? cfa : bp(p)) + (uintptr_t)(intptr_t)rule.bp_off;
        p->bp_at = readable(p, kept) ? kept : 0;
        break;
    default: p->bp_at = 0;
    }
    p->pc = word_at(p, cfa - 8) - 1;
    p->sp = cfa;
    return true;
}

static u32 walk(struct pgrt_thread *t, struct pgrt_walked *reads, u64 *pcs)
{
    const bool tables = pgrt_tables_ready && !pgrt_options.frame_pointers;
    const u32 depth = (u32)pgrt_options.depth;
    const uintptr_t frame = reads->frame;
    struct place p = {.sp = frame + 16, .bp_at = frame, .hi = t->stack_hi, .reads = reads};
    u32 n = 0;
    if (PGRT_UNLIKELY(frame - t->stack_lo >= t->stack_hi - t->stack_lo)) {
        p.hi = see_stack(t, frame);
        reads->n = PGRT_READS + 1; /* what is above may be gone next time */
    }
    p.pc = word_at(&p, frame + 8) - 1;
    while (n < depth && p.pc >= PGRT_PAGE - 1) {
        pcs[n++] = p.pc;
        if (!leave(t, &p, tables ? pgrt_rule(p.pc) : over_frame_pointers))
            break;
    }
    return n;
}

/* The two places where a walk that began here is remembered. */
PGRT_INLINE struct pgrt_walked *places(struct pgrt_thread *t, uintptr_t frame)
{
    u64 pc = ((const u64 *)frame)[1];
    return t->walked[((frame ^ pc * UINT64_C(0x9e3779b97f4a7c15)) *
                      UINT64_C(0xc4ceb9fe1a85ec53)) >> PGRT_WALKED_SHIFT];
}

PGRT_INLINE bool same(const struct pgrt_walked *w, uintptr_t frame)
{
    u64 other = 0;
    if (w->frame != frame || w->epoch != pgrt_walk_epoch)
        return false;
    for (u32 i = 0; i < w->n; i++)
        other |= *(const u64 *)(frame + w->off[i]) ^ w->word[i];
    return !other;
}

u32 pgrt_walk_known(struct pgrt_thread *t, const void *frame)
{
    const struct pgrt_walked *w = places(t, (uintptr_t)frame);
    for (int way = 0; way < 2; way++, w++)
        if (same(w, (uintptr_t)frame))
            return w->context;
    return 0;
}

u32 pgrt_walk(struct pgrt_thread *t, const void *frame, u64 *pcs, struct pgrt_walked **reads)
{
    struct pgrt_walked *w = places(t, (uintptr_t)frame) + (t->walks++ & 1);
    w->frame = (uintptr_t)frame;
    w->n = 0;
    w->epoch = 0;
    *reads = w;
    return walk(t, w, pcs);
}

void pgrt_walk_remember(struct pgrt_walked *w, u32 context)
{
    w->context = context;
    if (w->n <= PGRT_READS)
        w->epoch = pgrt_walk_epoch;
}
