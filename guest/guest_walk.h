/* The walk up a stack. A walk is determined by the words that it read: a thread keeps those of its
 * last walks, and as long as all of them are the same at the same frame, the stack is the same. */
#ifndef PGG_WALK_H
#define PGG_WALK_H

#include "guest.h"
#include "guest_frames.h"
#include "guest_trail.h"

#pragma GCC visibility push(hidden)

enum { PGG_READS = 48, PGG_WALKED_SHIFT = 57, PGG_STACKS = 4 };
enum { PGG_CODE_BITS = 48 }; /* of the code addresses of a stack */

/* The words that a walk read, by their place above the frame it began with; first adjacent words in
 * pairs, such as return address and frame pointer. */
struct pgg_walked {
    uintptr_t frame; /* PGG_HERE */
    u32 id, epoch, pairs, n;
    u32 off[PGG_READS + 1];
    u64 word[PGG_READS + 1];
};

/* State that a thread keeps for its walks. Zeroed memory, then pgg_walker_init. */
struct pgg_walker {
    u32 walks;
    u32 misses;                   /* how often a stack was not known again, less how often it was */
    uintptr_t stack_lo, stack_hi; /* of the thread; 0 until a walk has asked for it */
    struct pgg_stack {
        uintptr_t lo, hi, good; /* frames of [lo, good) are good to walk up to hi */
    } seen[PGG_STACKS];         /* other stacks, seen to be mapped */
    u32 seen_next;
    bool stack_asked;
    struct pgg_walked walked[1 << (64 - PGG_WALKED_SHIFT)][2];
    struct pgg_trail trail;
};

/* For all threads, before the first walk. */
struct pgg_walk_options {
    u64 depth;           /* frames at most */
    bool frame_pointers; /* go over them, without unwind tables */
};
extern struct pgg_walk_options pgg_walk_options;

/* For the calling thread. Its first walks ask for its stack, which may take memory by malloc. */
void pgg_walker_init(struct pgg_walker *w);
/* A stack: its code addresses are return addresses minus one, innermost first. The first one is in
 * the caller of the function with the frame (PGG_HERE). */
struct pgg_stack_found {
    u64 hash; /* pgg_trail_hash_pcs */
    u32 n;
    bool full;                /* it has as many frames as the walk may have */
    bool in_trail;            /* pgg_walk_pcs has the addresses until the next walk */
    struct pgg_walked *reads; /* NULL: it is not to be remembered */
};
/* The addresses are in pcs, unless they are in the trail. */
struct pgg_stack_found pgg_walk(struct pgg_walker *w, const void *frame, u64 *pcs);
/* Whether a stack that is full has more frames. */
bool pgg_walk_goes_on(struct pgg_walker *w, const void *frame);
void pgg_walk_pcs(const struct pgg_walker *w, const struct pgg_stack_found *found, u64 *pcs);
/* The stack of code that a signal interrupted, for its handler: takes no memory and no lock. First
 * where it was interrupted, then return addresses minus one. */
u32 pgg_walk_context(const void *context, u64 *pcs, u32 depth);
/* The first `depth` of them, by unwind tables; nothing is remembered, and pgg_walk_options do not
 * matter. */
u32 pgg_walk_first(struct pgg_walker *w, const void *frame, u64 *pcs, u32 depth);
void pgg_walk_remember(struct pgg_walked *reads, u32 id); /* not 0 */
u32 pgg_walk_known(struct pgg_walker *w, const void *frame); /* the id remembered for it, or 0 */

/* A frame that is left by a rule that the caller keeps, for walks of a few known frames. */
struct pgg_step {
    uintptr_t sp, bp_at, hi; /* as the frame sees it; where its caller's frame pointer is; end of
                                the stack */
    uintptr_t return_at, read_at; /* where the last step found its return address, and a frame
                                     pointer; 0: it needed none */
};
/* The calling thread's stack has the frame, as far as earlier walks asked for it. */
PGG_INLINE bool pgg_step_begin(const struct pgg_walker *w, const void *frame, struct pgg_step *s)
{
    const uintptr_t here = (uintptr_t)frame, at = pgg_frame_pair(here);
    *s = (struct pgg_step){.sp = pgg_frame_end(here), .bp_at = at, .hi = w->stack_hi};
    return PGG_LIKELY(at - w->stack_lo < w->stack_hi - w->stack_lo);
}
/* Code address in the caller, or 0: the rule is a rare one, or the stack ends. */
PGG_INLINE u64 pgg_step_leave(struct pgg_step *s, struct pgg_rule rule)
{
    uintptr_t cfa = (uintptr_t)(intptr_t)rule.cfa_off;
    if (PGG_LIKELY(pgg_rule_is_framed(rule))) { /* so that nothing waits for the rule itself */
        cfa = *(const uintptr_t *)s->bp_at + 16;
        if (PGG_UNLIKELY(cfa - 16 < s->sp || cfa > s->hi || (cfa & 7)))
            return 0;
        s->read_at = s->bp_at;
        s->return_at = cfa - 8;
        s->bp_at = cfa - 16;
        s->sp = cfa;
        return *(const u64 *)(cfa - 8) - 1;
    }
    s->read_at = rule.cfa == PGG_CFA_BP ? s->bp_at : 0;
    if (rule.cfa == PGG_CFA_BP)
        cfa += *(const uintptr_t *)s->bp_at;
    else if (rule.cfa == PGG_CFA_SP)
        cfa += s->sp;
    else
        return 0;
    const uintptr_t kept = cfa + (uintptr_t)(intptr_t)pgg_rule_off(rule),
                    return_at = pgg_rule_return_at(rule, cfa, kept);
    if (PGG_UNLIKELY(return_at < s->sp || return_at > s->hi - 8 || (return_at & 7) ||
                     pgg_rule_in_register(rule)))
        return 0;
    if (rule.bp == PGG_BP_AT_CFA) {
        if (PGG_UNLIKELY(kept < s->sp || kept > s->hi - 8 || (kept & 7)))
            return 0;
        s->bp_at = kept;
    } else if (PGG_UNLIKELY(rule.bp != PGG_BP_SAME)) {
        return 0;
    }
    s->sp = cfa;
    s->return_at = return_at;
    return pgg_return_address(*(const u64 *)return_at) - 1;
}

#pragma GCC visibility pop
#endif
