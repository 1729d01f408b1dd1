/* The walk up a stack, by the rules of the unwind tables, and over frame pointers where there are
 * none. It reads nothing outside the stack it began on: a wrong table or a broken frame pointer
 * ends it early. */
#include "pgrt.h"

#include <sys/syscall.h>
#include <ucontext.h>

/* Of the frame that is left next. */
struct place {
    u64 pc;             /* of code in it */
    uintptr_t sp, bp;   /* as it sees them */
    uintptr_t hi;       /* end of its stack */
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

PGRT_INLINE uintptr_t word_at(uintptr_t address)
{
    return *(const uintptr_t *)address;
}

/* Whether a word may be read there: above the stack pointer, inside the stack. */
PGRT_INLINE bool readable(const struct place *p, uintptr_t address)
{
    return address >= p->sp && address < p->hi - 7 && !(address & 7);
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
    *p = (struct place){(u64)regs[REG_RIP], (uintptr_t)regs[REG_RSP], (uintptr_t)regs[REG_RBP],
                        old_hi};
    if (p->sp > old_sp && p->sp < old_hi)
        return true;
    /* Back from the stack for signals: at most once, as that one is no thread's. */
    p->hi = t->stack_hi;
    return old_hi != t->stack_hi && p->sp - t->stack_lo < t->stack_hi - t->stack_lo;
}

u32 pgrt_walk(struct pgrt_thread *t, const void *frame, u64 *pcs, u32 depth)
{
    static const struct pgrt_rule chain = {.cfa = PGRT_CFA_FRAME_POINTER};
    const bool tables = pgrt_tables_ready && !pgrt_options.frame_pointers;
    struct place p = {((const u64 *)frame)[1] - 1, (uintptr_t)frame + 16, *(const u64 *)frame,
                      t->stack_hi};
    u32 n = 0;
    if (PGRT_UNLIKELY((uintptr_t)frame - t->stack_lo >= t->stack_hi - t->stack_lo))
        p.hi = see_stack(t, (uintptr_t)frame);
    while (n < depth && p.pc >= PGRT_PAGE - 1) {
        pcs[n++] = p.pc;
        const struct pgrt_rule rule = tables ? pgrt_rule(p.pc) : chain;
        uintptr_t cfa, kept;
        switch ((enum pgrt_cfa)rule.cfa) {
        case PGRT_CFA_SP: cfa = p.sp + (uintptr_t)(intptr_t)rule.cfa_off; break;
        case PGRT_CFA_BP: cfa = p.bp + (uintptr_t)(intptr_t)rule.cfa_off; break;
        case PGRT_CFA_AT_SP:
        case PGRT_CFA_AT_BP:
            cfa = (rule.cfa == PGRT_CFA_AT_SP ? p.sp : p.bp) + (uintptr_t)(intptr_t)rule.cfa_off;
            if (!readable(&p, cfa))
                return n;
            cfa = word_at(cfa) + rule.plus;
            break;
        case PGRT_CFA_SIGNAL:
            if (!leave_signal(t, &p))
                return n;
            continue;
        case PGRT_CFA_FRAME_POINTER:
            cfa = p.bp + 16;
            kept = p.bp;
            break;
        default: return n;
        }
        if (!readable(&p, cfa - 8))
            return n;
        switch (rule.cfa == PGRT_CFA_FRAME_POINTER ? PGRT_BP_AT_BP : (enum pgrt_bp)rule.bp) {
        case PGRT_BP_SAME: kept = 0; break;
        case PGRT_BP_AT_CFA: kept = cfa + (uintptr_t)(intptr_t)rule.bp_off; break;
        case PGRT_BP_AT_BP: kept = p.bp + (uintptr_t)(intptr_t)rule.bp_off; break;
        default: kept = p.bp = 0;
        }
        if (kept)
            p.bp = readable(&p, kept) ? word_at(kept) : 0;
        p.pc = word_at(cfa - 8) - 1;
        p.sp = cfa;
    }
    return n;
}
